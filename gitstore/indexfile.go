package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// editIndex changes entries of the staging area. Git writes a copy; the copy
// takes the place of the index under git's own lock. A killed editIndex leaves
// the old index or the new one, and at worst a lock that is a second name of
// the copy, which the next one recognises and removes.
func (s *Store) editIndex(ctx context.Context, entries []byte, sparse, intent []string) error {
	if len(entries) == 0 && len(intent) == 0 {
		return nil
	}
	copied := filepath.Join(s.stateDir(), "index")
	if err := s.dropStaleCopy(copied); err != nil {
		return err
	}
	before, err := copyFile(s.repo.index, copied)
	if err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	defer os.Remove(copied)
	g := s.git.With("GIT_INDEX_FILE=" + copied)
	g.Dir = s.repo.root
	if _, err := g.Pipe(ctx, entries, "update-index", "-z", "--index-info"); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	if len(sparse) > 0 {
		if _, err := g.Pipe(ctx, zeroed(sparse), "update-index", "-z", "--skip-worktree", "--stdin"); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
	}
	for _, path := range intent {
		_, _ = g.Output(ctx, "add", "--intent-to-add", "--", ":(literal)"+path) // a file that is gone has no intent
	}
	return s.swapIndex(copied, before)
}

// dropStaleCopy removes what a killed editIndex left.
func (s *Store) dropStaleCopy(copied string) error {
	left, err := os.Stat(copied)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lock := s.repo.index + ".lock"
	if held, err := os.Stat(lock); err == nil && os.SameFile(left, held) {
		if err := os.Remove(lock); err != nil {
			return err
		}
	}
	_ = os.Remove(copied + ".lock")
	return os.Remove(copied)
}

// swapIndex puts the copy in the place of the index it was made from.
func (s *Store) swapIndex(copied string, before fs.FileInfo) error {
	lock := s.repo.index + ".lock"
	if err := os.Link(copied, lock); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return &RefusedError{Reason: fmt.Sprintf("the index is locked by another git process (%s)", lock)}
		}
		return fmt.Errorf("lock index: %w", err)
	}
	now, err := os.Stat(s.repo.index)
	if errors.Is(err, fs.ErrNotExist) {
		now, err = nil, nil
	}
	if err != nil || !sameFile(before, now) {
		os.Remove(lock)
		return errors.Join(err, &RefusedError{Reason: "the index changed meanwhile"})
	}
	if err := os.Rename(lock, s.repo.index); err != nil {
		os.Remove(lock)
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// sameFile reports whether a file was replaced or written since.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// copyFile copies a file and returns what it was, nil when there is none.
func copyFile(from, to string) (fs.FileInfo, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return nil, err
	}
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(out, in)
	return info, errors.Join(err, out.Close())
}

// indexInfo writes the staging area's side of a path for `git update-index -z
// --index-info`: first away with every stage, then what is wanted.
func indexInfo(b *bytes.Buffer, path string, want stages) {
	fmt.Fprintf(b, "0 %040d\t%s\x00", 0, path)
	for stage, e := range want {
		if e != (side{}) {
			fmt.Fprintf(b, "%o %s %d\t%s\x00", e.mode, e.hash, stage, path)
		}
	}
}

func zeroed(paths []string) []byte {
	return []byte(strings.Join(paths, "\x00") + "\x00")
}
