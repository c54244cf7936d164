package restore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/internal/index"
	"git-checkpoint/gitstore/internal/trees"
)

// markSparse marks paths missing from the index that a sparse checkout excludes from the
// worktree. Git applies its patterns to a temporary index with these paths and an empty
// worktree.
func (s *Worktree) markSparse(ctx context.Context, targets []Target, now map[string]*state) error {
	if !s.configBool("core.sparsecheckout", false) {
		return nil
	}
	var info bytes.Buffer
	var asked []string
	for _, t := range targets {
		if st := now[t.Path]; t.Index && st.index == (Stages{}) && st.work == (Side{}) && blob(t.IndexWant[0]) {
			fmt.Fprintf(&info, "%o %s\t%s\x00", t.IndexWant[0].Mode, t.IndexWant[0].Hash, t.Path)
			asked = append(asked, t.Path)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	x, err := s.applySparse(ctx, dir, info.Bytes())
	if err != nil {
		return fmt.Errorf("apply the sparse checkout: %w", err)
	}
	defer x.Close()
	for _, path := range asked {
		if entries := x.Lookup(path); len(entries) == 1 {
			now[path].sparse = entries[0].SkipWorktree
		}
	}
	return x.Err()
}

func (s *Worktree) applySparse(ctx context.Context, dir string, info []byte) (*index.Index, error) {
	file := filepath.Join(dir, "index")
	g := s.Git.With("GIT_INDEX_FILE="+file, "GIT_DIR="+s.GitDir, "GIT_WORK_TREE="+dir)
	g.Dir = dir
	plain := []string{"-c", "index.sparse=false", "-c", "core.splitIndex=false", "-c", "core.fsmonitor=", "-c", "core.hooksPath=" + os.DevNull}
	if _, err := g.Pipe(ctx, info, append(plain, "update-index", "-z", "--add", "--index-info")...); err != nil {
		return nil, err
	}
	if _, err := g.Output(ctx, append(plain, "sparse-checkout", "reapply")...); err != nil {
		return nil, err
	}
	return index.Open(file)
}

// blob reports whether a side is a regular file or symlink.
func blob(f Side) bool {
	return f.Mode == trees.ModeFile || f.Mode == trees.ModeExec || f.Mode == trees.ModeSymlink
}
