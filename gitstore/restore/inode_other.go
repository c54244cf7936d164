//go:build !unix

package restore

import "io/fs"

// inode is a file's number; git keeps 0 where there is none.
func inode(fs.FileInfo) uint32 { return 0 }
