package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/index"
	"git-checkpoint/gitstore/trees"
)

// markSparse finds which paths that are not in the staging area a sparse
// checkout would leave out of the worktree. Git owns the patterns: it applies
// them to an index that holds just these paths, in an empty worktree.
func (s *Store) markSparse(ctx context.Context, targets []target, now map[string]*state) error {
	if !s.configBool("core.sparsecheckout", false) {
		return nil
	}
	var info bytes.Buffer
	var asked []string
	for _, t := range targets {
		if st := now[t.path]; t.index && st.index == (stages{}) && st.work == (side{}) && blob(t.indexWant[0]) {
			fmt.Fprintf(&info, "%o %s\t%s\x00", t.indexWant[0].mode, t.indexWant[0].hash, t.path)
			asked = append(asked, t.path)
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

func (s *Store) applySparse(ctx context.Context, dir string, info []byte) (*index.Index, error) {
	file := filepath.Join(dir, "index")
	g := s.git.With("GIT_INDEX_FILE="+file, "GIT_DIR="+s.repo.dir, "GIT_WORK_TREE="+dir)
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

// blob reports whether a side is a file with content of its own.
func blob(f side) bool {
	return f.mode == trees.ModeFile || f.mode == trees.ModeExec || f.mode == trees.ModeSymlink
}
