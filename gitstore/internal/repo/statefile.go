package repo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/fsutil/filelock"
)

// Notes are small state files of commands. All worktrees of the repository share them.
// They are stored next to the store's own files.

// noteWait is the timeout for the lock of a note.
const noteWait = 5 * time.Second

// NotePath returns the path of a note.
func (s *Repo) NotePath(name string) string {
	return filepath.Join(s.Info.CommonDir, "git-checkpoint", name)
}

// TouchNote sets the time of an empty note, and creates the note if necessary. It is not
// durable.
func (s *Repo) TouchNote(name string, at time.Time) error {
	path := s.NotePath(name)
	if os.Chtimes(path, at, at) == nil {
		return nil
	}
	if err := s.Objects.MakeDirs(filepath.Dir(path)); err != nil {
		return err
	}
	os.Remove(path) // only the owner of a file can set its time
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		return err
	}
	s.Objects.Share(path)
	return os.Chtimes(path, at, at)
}

// LockNote acquires the lock of a note; release releases it. If another process holds the
// lock for long, LockNote fails with *RefusedError.
func (s *Repo) LockNote(ctx context.Context, name string) (release func(), err error) {
	path := s.NotePath(name) + ".lock"
	if err := s.Objects.MakeDirs(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := filelock.Open(path, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	s.Objects.Share(path)
	if err := f.Wait(ctx, noteWait); err != nil {
		f.Close()
		if errors.Is(err, filelock.ErrHeld) {
			err = &RefusedError{Reason: "another process keeps " + name + " locked"}
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}

// WriteFile durably replaces a file of this program. Readers see either the old or the
// new content.
func (s *Repo) WriteFile(path string, data []byte) error {
	return s.replaceFile(path, data, true)
}

// WriteUnsynced is WriteFile without a sync to the disk. After a power loss, the file may
// have the old content or be empty.
func (s *Repo) WriteUnsynced(path string, data []byte) error {
	return s.replaceFile(path, data, false)
}

func (s *Repo) replaceFile(path string, data []byte, durable bool) error {
	dir := filepath.Dir(path)
	if err := s.Objects.MakeDirs(dir); err != nil {
		return err
	}
	o := fsutil.ReplaceOptions{
		Temp: ".tmp-",
		Mode: 0o600,
		Prepare: func(temp *os.File) error {
			s.Objects.Share(temp.Name())
			return nil
		},
		Sync: durable,
	}
	if durable {
		o.SyncDir = fsutil.SyncDir
	}
	return fsutil.ReplaceFile(path, bytes.NewReader(data), o)
}
