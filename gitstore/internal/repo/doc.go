// Package repo opens a repository and holds what all operations on checkpoints share: git,
// the object database, refs and their locks, the configuration and the clock. It names the
// refs, reads and writes commits, and moves refs.
package repo
