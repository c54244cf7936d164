package repo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
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

// WriteNote replaces a note. Readers see either the old or the new content.
func (s *Repo) WriteNote(name string, data []byte) error {
	return s.WriteFile(s.NotePath(name), data)
}

// LockNote acquires the lock of a note; release releases it. If another process holds the
// lock for long, LockNote fails with *RefusedError.
func (s *Repo) LockNote(ctx context.Context, name string) (release func(), err error) {
	path := s.NotePath(name) + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	s.Objects.Share(filepath.Dir(path), path)
	if !filelock.Try(f) && !filelock.Wait(ctx, f, noteWait) {
		f.Close()
		return nil, &RefusedError{Reason: "another process keeps " + name + " locked"}
	}
	return func() { f.Close() }, nil
}

// Tips returns the newest commit of each issue's chain, in hex. It reads loose refs
// without git, because git silently skips refs in a folder that it cannot open.
func (s *Repo) Tips(ctx context.Context) (map[checkpoint.Issue]string, error) {
	refs, err := s.Refs.Values(ctx, LiveRefs)
	if err != nil {
		return nil, err
	}
	tips := make(map[checkpoint.Issue]string, len(refs))
	for name, tip := range refs {
		if i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, LiveRefs)); err == nil {
			tips[i] = tip.String()
		}
	}
	return tips, nil
}
