// Package filelock provides file locks between processes. A lock lasts until all
// processes that have the file open, including child processes that inherit it, have
// closed it or exited. On Windows, child processes do not inherit it.
package filelock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/trace"
)

// Open opens a lock file for reading and writing, with additional flags of os.OpenFile.
// It fails for symlinks and irregular files, because callers overwrite the content.
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow|flags, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Wait locks f and retries until the limit or the end of ctx. It reports whether it has
// locked f. Closing f releases the lock.
func Wait(ctx context.Context, f *os.File, limit time.Duration) bool {
	defer trace.Begin(trace.Lock, filepath.Base(f.Name())).End()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && ctx.Err() == nil; {
		if Try(f) {
			return true
		}
		time.Sleep(time.Millisecond + rand.N(2*time.Millisecond))
	}
	return false
}
