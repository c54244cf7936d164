//go:build !linux

package main

func syncDisk(string) error    { return nil }
func fileSystem(string) string { return "unknown" }
func load() string             { return "" }
