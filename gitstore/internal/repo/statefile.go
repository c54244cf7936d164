package repo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/fsutil/filelock"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
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

// A fetch with --prune and the refspec +refs/*:refs/* deletes the refs of a chain together
// with own/ and their reflogs. So the last value of own/ is also in a file, one for each
// issue, which no refspec reaches.

// OwnNotes returns the directory of these files.
func (s *Repo) OwnNotes() string { return s.NotePath("own") }

// noteOwn writes the new values of own/ to their files, after a move of refs and before
// the caller reports success. A file that cannot be written is removed, because an old
// value could bring back dropped checkpoints.
func (s *Repo) noteOwn(moves []refs.Move) {
	for _, m := range moves {
		name, own := strings.CutPrefix(m.Name, OwnRefs)
		if !own || strings.Contains(name, "/") {
			continue
		}
		file := filepath.Join(s.OwnNotes(), name)
		if m.New.IsZero() || s.WriteUnsynced(file, []byte(ownNote(m.New, name))) != nil {
			_ = os.Remove(file)
		}
	}
}

// ownNote returns the content of a file: the value of own/ and the issue's name in refs. Where
// file names have no case, another issue can have the file.
func ownNote(tip plumbing.Hash, name string) string { return tip.String() + " " + name + "\n" }

// NotedOwn returns the last value of own/ from its file, or zero.
func (s *Repo) NotedOwn(i checkpoint.Issue) plumbing.Hash {
	data, err := os.ReadFile(filepath.Join(s.OwnNotes(), i.RefName()))
	text, _, _ := strings.Cut(string(data), " ")
	if err != nil || !plumbing.IsHash(text) || string(data) != ownNote(plumbing.NewHash(text), i.RefName()) {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(text)
}

// NotedIssues returns the issues that have a file with the last value of own/.
func (s *Repo) NotedIssues() []checkpoint.Issue {
	entries, err := os.ReadDir(s.OwnNotes())
	if err != nil {
		return nil
	}
	var issues []checkpoint.Issue
	for _, e := range entries {
		if i, err := checkpoint.IssueFromRef(e.Name()); err == nil {
			issues = append(issues, i)
		}
	}
	return issues
}
