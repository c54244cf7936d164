//go:build !linux

package odb

import (
	"os"

	"git-checkpoint/gitstore/fsutil"
)

// orderedFS returns false: no file system of this system is known to have an ordered
// journal.
func orderedFS(string) bool { return false }

func startWriting(*os.File) error { return nil }

func waitWritten(f *os.File) error { return fsutil.Sync(f) }

func onDevice(*os.File, string) bool { return false }
