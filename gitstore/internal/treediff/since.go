package treediff

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// WorktreeFiles compares worktree files with a checkpoint.
type WorktreeFiles struct {
	Git     git.Git
	Root    string
	Objects Sized
	MaxFile int64 // maximum size of a compared file, in bytes
}

// Sized reads objects, and returns object sizes without reading content.
type Sized interface {
	trees.Reader
	Size(plumbing.Hash) (int64, error)
}

// Diff returns a git diff between a worktree file and a checkpoint's version. Both
// versions are stored in temporary files named mine and checkpoint, so that diff headers
// contain only these names. The output contains unescaped file content, so it is unsafe
// for terminals.
func (w *WorktreeFiles) Diff(ctx context.Context, t contents.Target) (string, error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-diff-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	mine, err := w.mine(t.Path)
	if err != nil {
		return "", err
	}
	theirs, err := w.theirs(ctx, t)
	if err != nil {
		return "", err
	}
	names := []string{"mine", "checkpoint"}
	for i, data := range [][]byte{mine, theirs} {
		if data == nil {
			names[i] = "/dev/null" // supported by git on every system
		} else if err := os.WriteFile(filepath.Join(dir, names[i]), data, 0o600); err != nil {
			return "", err
		}
	}
	g := w.Git
	g.Dir = dir
	out, err := g.Output(ctx, "diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "--", names[0], names[1])
	if err != nil && git.Code(err) != 1 {
		return "", fmt.Errorf("compare %q: %w", t.Path, err)
	}
	return string(out), nil
}

// mine returns a worktree file's content or symlink target, nil for missing files and
// directories.
func (w *WorktreeFiles) mine(path string) ([]byte, error) {
	root, err := os.OpenRoot(w.Root)
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
	if !info.Mode().IsRegular() || info.Size() > w.MaxFile {
		return nil, fmt.Errorf("compare %q: no regular file, or more than %d bytes", path, w.MaxFile)
	}
	data, err := root.ReadFile(name)
	return nonNil(data), err
}

// theirs returns the checkpoint's version after git's smudge filters, or nil if a restore
// would remove the file.
func (w *WorktreeFiles) theirs(ctx context.Context, t contents.Target) ([]byte, error) {
	want := t.WorkWant
	if !t.Work {
		want = t.IndexWant[0]
	}
	if size, err := w.Objects.Size(want.Hash); err == nil && size > w.MaxFile {
		return nil, fmt.Errorf("compare %q: more than %d bytes", t.Path, w.MaxFile)
	}
	switch want.Mode {
	case trees.ModeFile, trees.ModeExec:
		data, err := w.Git.Output(ctx, "cat-file", "--filters", "--path="+t.Path, want.Hash.String())
		return nonNil(data), err
	case trees.ModeSymlink:
		return trees.ReadAs(w.Objects, plumbing.BlobObject, want.Hash)
	}
	return nil, nil
}

func nonNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
