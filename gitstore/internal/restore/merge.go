package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// mergeAll replaces merge steps by steps that write the merge result, and lists files with
// conflicts. The step of a file that cannot be merged is removed, and its path is added to
// changed. The same holds for a file with conflicts that is merged only without conflicts. A merge
// that gives the present file needs no step.
func (s *worktree) mergeAll(ctx context.Context, plan *decision, area *lockedIndex) error {
	unmerged := area.list.paths("123") // also those that a step makes so
	for _, st := range plan.steps {
		if st.Index && st.After.Index != contents.Merged(st.After.Index[0]) {
			unmerged = append(unmerged, st.Path)
		}
	}
	var left []Step
	for _, st := range plan.steps {
		if !st.merge {
			left = append(left, st)
			continue
		}
		sides, clean, err := s.mergeFile(ctx, &st)
		if err != nil && !errors.Is(err, git.ErrNoMerge) {
			return fmt.Errorf("merge %q: %w", st.Path, err)
		}
		switch {
		case st.fitting && (err != nil || !clean):
			plan.Unsaved = append(plan.Unsaved, st.Path)
			continue
		case err != nil, !clean && st.onlyClean:
			plan.Skipped = append(plan.Skipped, st.Path)
			continue
		case !clean:
			plan.Merged = append(plan.Merged, st.Path)
			// Git would remove the entries of a path for those of its parent, and vice versa.
			meets := func(p string) bool {
				return p != st.Path && (checkpoint.IsWithin(st.Path, p) || checkpoint.IsWithin(p, st.Path))
			}
			if plan.unmerged && st.Before.Index[0] != (Side{}) && !slices.ContainsFunc(unmerged, meets) {
				st.Index, st.After.Index = true, sides
				unmerged = append(unmerged, st.Path)
			}
		case st.staged:
			st.Index, st.After.Index = true, contents.Merged(st.After.Work)
		}
		st.Index = st.Index && st.After.Index != st.Before.Index
		if st.Work = st.After.Work != st.Before.Work; st.Work || st.Index {
			left = append(left, st)
		}
	}
	plan.steps = left
	slices.Sort(plan.Skipped)
	return nil
}

// mergeFile merges the current file with the checkpoint's file. All three versions are blobs
// after git's clean filters. They are returned as the index entries of an unmerged path. Without
// a base, the result has both sides, as git merges files that both sides added.
func (s *worktree) mergeFile(ctx context.Context, st *Step) (sides Stages, clean bool, err error) {
	mine := st.Before.Work
	if !s.objects.Has(mine.Hash) {
		line, err := s.repo.RootGit().Line(ctx, "hash-object", "-w", "--", st.Path)
		if err == nil && line != mine.Hash.String() {
			err = ErrConcurrentChange
		}
		if err != nil {
			return sides, false, err
		}
		s.objects.Keep(mine.Hash)
	}
	sides = Stages{1: st.base, 2: mine, 3: st.After.Work}
	var data [4][]byte
	for i := 1; i < len(sides); i++ {
		if sides[i] != (Side{}) {
			if data[i], err = trees.ReadAs(s.objects, plumbing.BlobObject, sides[i].Hash); err != nil {
				return sides, false, err
			}
		}
	}
	out, clean, err := s.repo.Git.MergeFile(ctx, data[1], data[2], data[3])
	if err != nil {
		return sides, false, err
	}
	if st.After.Work.Mode == st.base.Mode { // the mode of the side that changed it
		st.After.Work.Mode = mine.Mode
	}
	st.After.Work.Hash = s.objects.Add(plumbing.BlobObject, out)
	return sides, clean, nil
}
