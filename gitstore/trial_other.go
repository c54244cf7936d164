//go:build !unix

package gitstore

// isMine reports whether a file belongs to the user of this process. The directory for temporary
// files is that of one user here.
func isMine(string) bool { return true }
