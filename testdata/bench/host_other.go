//go:build !linux

package main

import "os"

func syncDisk(string) error         { return nil }
func peakOf(*os.ProcessState) int64 { return 0 }
func fileSystem(string) string      { return "unknown" }
func load() string                  { return "" }
