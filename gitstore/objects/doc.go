// Package objects reads and writes git's object store with git's own
// guarantees, behind go-git's storer interfaces.
package objects
