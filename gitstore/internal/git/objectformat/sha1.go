//go:build !sha256

package objectformat

// Name is git's name of the format, the value of extensions.objectFormat.
const Name = "sha1"

// Other is the name of the other format.
const Other = "sha256"

// EmptyTree is the id of the empty tree.
const EmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
