package gitstore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/outputs"
	"git-checkpoint/gitstore/restore"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// DiffSince shows, as git diff does, how a file of the worktree differs from
// the checkpoint's. The text has what the
// files have in it: it is not fit for a terminal as it is.
func (s *Store) DiffSince(ctx context.Context, c *Checkpoint, path string) (string, error) {
	st, err := s.openSnapshot(c)
	if err != nil {
		return "", err
	}
	targets, err := s.targets(st)
	if err != nil {
		return "", err
	}
	for _, t := range targets {
		if t.Path == path {
			return s.diffTarget(ctx, t)
		}
	}
	return "", fmt.Errorf("path %q: the checkpoint did not change it", path)
}

// diffTarget writes both sides to files called mine and checkpoint, so that the
// diff's headers have no other text than these words.
func (s *Store) diffTarget(ctx context.Context, t restore.Target) (string, error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-diff-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	mine, err := s.mineFor(t.Path)
	if err != nil {
		return "", err
	}
	theirs, err := s.theirsFor(ctx, t)
	if err != nil {
		return "", err
	}
	names := []string{"mine", "checkpoint"}
	for i, data := range [][]byte{mine, theirs} {
		if data == nil {
			names[i] = "/dev/null" // git knows it everywhere
		} else if err := os.WriteFile(filepath.Join(dir, names[i]), data, 0o600); err != nil {
			return "", err
		}
	}
	g := s.git
	g.Dir = dir
	out, err := g.Output(ctx, "diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "--", names[0], names[1])
	if err != nil && gitcmd.Code(err) != 1 {
		return "", fmt.Errorf("compare %q: %w", t.Path, err)
	}
	return string(out), nil
}

// mineFor is what the worktree has at a path: a file's bytes or a symlink's
// target, nil for nothing or a directory.
func (s *Store) mineFor(path string) ([]byte, error) {
	root, err := os.OpenRoot(s.repo.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	switch {
	case err != nil, info.IsDir():
		return nil, nil
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := root.Readlink(name)
		return []byte(link), err
	}
	if !info.Mode().IsRegular() || info.Size() > outputs.MaxDigested {
		return nil, fmt.Errorf("compare %q: no regular file, or more than %d bytes", path, outputs.MaxDigested)
	}
	data, err := root.ReadFile(name)
	return nonNil(data), err
}

// theirsFor is what the checkpoint would put there, through git's filters, nil
// where it would remove the file.
func (s *Store) theirsFor(ctx context.Context, t restore.Target) ([]byte, error) {
	want := t.WorkWant
	if !t.Work {
		want = t.IndexWant[0]
	}
	if size, err := s.objects.Size(want.Hash); err == nil && size > outputs.MaxDigested {
		return nil, fmt.Errorf("compare %q: more than %d bytes", t.Path, outputs.MaxDigested)
	}
	switch want.Mode {
	case trees.ModeFile, trees.ModeExec:
		data, err := s.git.Output(ctx, "cat-file", "--filters", "--path="+t.Path, want.Hash.String())
		return nonNil(data), err
	case trees.ModeSymlink:
		return trees.ReadAs(s.objects, plumbing.BlobObject, want.Hash)
	}
	return nil, nil
}

func nonNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
