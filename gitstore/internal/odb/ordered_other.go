//go:build !linux

package odb

import "os"

// orderedFS returns false: no file system of this system is known to have an ordered
// journal.
func orderedFS(string) bool { return false }

func startWriting(*os.File) error { return nil }

func waitWritten(f *os.File) error { return f.Sync() }

func onDevice(*os.File, string) bool { return false }
