package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// errNoMerge reports that git merge-file refused a binary file.
var errNoMerge = errors.New("not text")

// mergeAll replaces merge steps by steps that write the merge result. If a file cannot be
// merged, its step is removed and its path is added to changed.
func (w *staging) mergeAll(ctx context.Context, plan *decision) (conflicts []string, err error) {
	var merges bool
	for i := range plan.steps {
		st := &plan.steps[i]
		if !st.merge {
			continue
		}
		clean, err := w.mergeFile(ctx, st)
		if errors.Is(err, errNoMerge) {
			plan.changed = append(plan.changed, st.path)
			st.path = ""
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("merge %q: %w", st.path, err)
		}
		merges = true
		if !clean {
			conflicts = append(conflicts, st.path)
		}
	}
	plan.steps = slices.DeleteFunc(plan.steps, func(st Step) bool { return st.path == "" })
	slices.Sort(plan.changed)
	if merges {
		return conflicts, w.s.Objects.Flush(ctx) // git checkout-index reads the results
	}
	return conflicts, nil
}

// mergeFile merges the current file with the checkpoint's file; the common base is the
// version at HEAD during the save. All three versions are blobs after git's clean
// filters.
func (w *staging) mergeFile(ctx context.Context, st *Step) (clean bool, err error) {
	mine := st.before.work.Hash
	if !w.s.Objects.Has(mine) {
		if mine, err = w.s.storeFiltered(ctx, st.path); err != nil {
			return false, err
		}
	}
	dir, err := os.MkdirTemp(w.dir, "merge-*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	names := []string{"mine", "base", "checkpoint"}
	for i, hash := range []plumbing.Hash{mine, st.base.Hash, st.workAfter.Hash} {
		data, err := trees.ReadAs(w.s.Objects, plumbing.BlobObject, hash)
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(filepath.Join(dir, names[i]), data, 0o600); err != nil {
			return false, err
		}
	}
	g := w.s.Git
	g.Dir = dir
	out, err := g.Output(ctx, "merge-file", "-p", "-q", "-L", "mine", "-L", "base", "-L", "checkpoint", names[0], names[1], names[2])
	switch code := git.Code(err); {
	case code == 255:
		return false, errNoMerge
	case code < 0 || code > 127:
		return false, err
	}
	st.workAfter = Side{mergeMode(st.before.work.Mode, st.base.Mode, st.workAfter.Mode), w.s.Objects.Add(plumbing.BlobObject, out)}
	return err == nil, nil
}

// mergeMode returns the mode of the side that changed it.
func mergeMode(mine, base, theirs uint32) uint32 {
	if theirs == base {
		return mine
	}
	return theirs
}

// storeFiltered stores a file as git add would.
func (s *Worktree) storeFiltered(ctx context.Context, path string) (plumbing.Hash, error) {
	g := s.Git
	g.Dir = s.Root
	line, err := g.Line(ctx, "hash-object", "-w", "--", path)
	return plumbing.NewHash(line), err
}
