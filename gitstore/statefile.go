package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/filelock"
)

// Notes are small files that a command keeps for all worktrees of the
// repository, beside what the store keeps for itself.

// noteWait bounds the wait for the lock of a note.
const noteWait = 5 * time.Second

// NotePath is the file of the note of that name.
func (s *Store) NotePath(name string) string {
	return filepath.Join(s.repo.CommonDir, "git-checkpoint", name)
}

// WriteNote replaces a note: readers see the old one or the new.
func (s *Store) WriteNote(name string, data []byte) error {
	return s.writeFile(s.NotePath(name), data)
}

// LockNote takes the lock of a note, which release gives back. It fails with
// *RefusedError when another process has it for long.
func (s *Store) LockNote(ctx context.Context, name string) (release func(), err error) {
	path := s.NotePath(name) + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	s.objects.Share(filepath.Dir(path), path)
	if !filelock.Try(f) && !filelock.Wait(ctx, f, noteWait) {
		f.Close()
		return nil, &RefusedError{Reason: "another process keeps " + name + " locked"}
	}
	return func() { f.Close() }, nil
}

// Tips are the newest commits of the issues' chains, in hex. git is not asked for refs
// that are files: it leaves out those of a folder that it cannot open, and exits with 0.
func (s *Store) Tips(ctx context.Context) (map[checkpoint.Issue]string, error) {
	refs, err := s.refs.Values(ctx, liveRefs)
	if err != nil {
		return nil, err
	}
	tips := make(map[checkpoint.Issue]string, len(refs))
	for name, tip := range refs {
		if i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, liveRefs)); err == nil {
			tips[i] = tip.String()
		}
	}
	return tips, nil
}
