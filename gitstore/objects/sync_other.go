//go:build !unix

package objects

import "os"

const syncFlags = os.O_RDWR

// syncDir does nothing: there is no way to sync a directory here, and NTFS
// keeps names in its journal.
func syncDir(string) error { return nil }
