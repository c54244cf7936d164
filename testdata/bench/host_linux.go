package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// syncDisk syncs the file system that contains path.
func syncDisk(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.Syncfs(int(d.Fd()))
}

// fileSystem returns the type of the file system that contains path.
func fileSystem(path string) string {
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "unknown"
	}
	defer mounts.Close()
	path, _ = filepath.EvalSymlinks(path)
	best, found := "", "unknown"
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 {
			continue
		}
		point := fields[4]
		within := path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
		if within && len(point) >= len(best) {
			best = point
			found, _, _ = strings.Cut(after, " ")
		}
	}
	return found
}

// load returns the machine's load average.
func load() string {
	data, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(data))
	return strings.Join(fields[:min(3, len(fields))], " ")
}
