// Package filelock provides file locks between processes. A lock lasts until all
// processes that have the file open, including child processes that inherit it, have
// closed it or exited. On Windows, child processes do not inherit it.
//
// Some file systems have no locks, such as NFS without a lock daemon. There the lock is a
// second file, the mark, which only one process can create. It names its owner, so that
// the mark of a process that has exited is recognised and removed:
//
//	<process id> <host> <id of the system's start>
package filelock

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/trace"
)

// ErrHeld means that another process holds a lock.
var ErrHeld = errors.New("another process holds the lock")

// A File is an open lock file.
type File struct {
	*os.File
	mark string // path of the mark that this process has created, or ""
}

// Open opens a lock file for reading and writing, with additional flags of os.OpenFile.
// It fails for symlinks and irregular files, because callers overwrite the content.
func Open(path string, flags int) (*File, error) {
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
	return &File{File: f}, nil
}

// Close releases the lock.
func (f *File) Close() error {
	var err error
	if f.mark != "" {
		err = os.Remove(f.mark)
		f.mark = ""
	}
	return errors.Join(err, f.File.Close())
}

// Try locks f. It fails with ErrHeld if another process has the lock.
func (f *File) Try() error {
	if err := lock(f.File); err == nil || errors.Is(err, ErrHeld) {
		return err
	}
	return f.createMark()
}

// createMark locks f on a file system without locks.
func (f *File) createMark() error {
	mark := markOf(f.Name())
	owner, held := ownerOf(mark)
	if held {
		return ErrHeld
	}
	if owner != nil {
		removeMark(mark, owner)
	}
	file, err := os.OpenFile(mark, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return ErrHeld
	}
	if err != nil {
		return err
	}
	f.mark = mark
	_, err = fmt.Fprintf(file, "%d %s\n", os.Getpid(), thisSystem())
	return errors.Join(err, file.Close())
}

// Wait locks f and retries until the limit or the end of ctx. It fails with ErrHeld if
// another process keeps the lock.
func (f *File) Wait(ctx context.Context, limit time.Duration) error {
	defer trace.Begin(trace.Lock, filepath.Base(f.Name())).End()
	err := f.Try()
	if !errors.Is(err, ErrHeld) {
		return err
	}
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && ctx.Err() == nil; {
		if err := f.Try(); !errors.Is(err, ErrHeld) {
			return err
		}
		time.Sleep(time.Millisecond + rand.N(2*time.Millisecond))
	}
	return ErrHeld
}

// IsHeld reports whether a process holds the lock of a file. It creates no file.
func IsHeld(path string) bool {
	f, err := Open(path, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	if err = lock(f.File); err == nil || errors.Is(err, ErrHeld) {
		return err != nil
	}
	_, held := ownerOf(markOf(path))
	return held
}

// markOf returns the path of the mark beside a lock file.
func markOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".held")
}

// Limits of the age of a mark. The processes of another system are unknown here. A mark is
// empty until its owner is written.
const (
	maxElsewhere = time.Hour
	maxUnwritten = 10 * time.Second
)

// ownerOf returns the content of a mark, or nil, and whether its owner may still run.
func ownerOf(mark string) (owner []byte, held bool) {
	owner, err := os.ReadFile(mark)
	if err != nil {
		return nil, !errors.Is(err, fs.ErrNotExist)
	}
	id, system, _ := strings.Cut(strings.TrimSpace(string(owner)), " ")
	host, _, isWritten := strings.Cut(system, " ")
	pid, err := strconv.Atoi(id)
	here := thisSystem()
	switch {
	case err != nil || !isWritten:
		held = fsutil.IsYounger(mark, maxUnwritten)
	case system == here:
		held = fsutil.IsRunning(pid)
	case !strings.HasPrefix(here, host+" "): // else this system has started again
		held = fsutil.IsYounger(mark, maxElsewhere)
	}
	return owner, held
}

// removeMark removes the mark of a process that has exited. Another process may create a new
// mark meanwhile. So removeMark renames the mark, reads its owner, and puts a new mark back.
func removeMark(mark string, owner []byte) {
	left := mark + "-" + strconv.Itoa(os.Getpid())
	if os.Rename(mark, left) != nil {
		return
	}
	if now, err := os.ReadFile(left); err != nil || !bytes.Equal(now, owner) {
		_ = os.Link(left, mark)
	}
	os.Remove(left)
}

// thisSystem returns the name of the host, with its namespace of process ids, and the id of
// the system's start, as in a mark.
func thisSystem() string {
	host, _ := os.Hostname()
	processes, _ := os.Readlink("/proc/self/ns/pid") // containers may share the name of their host
	return strings.Join(strings.Fields(host+processes), "-") + " " + cmp.Or(fsutil.BootID(), "-")
}
