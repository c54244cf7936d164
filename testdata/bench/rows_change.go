package main

import (
	"context"
	"fmt"
)

func runRestore(ctx context.Context, r *repo) (result, error) { return r.restores(ctx) }

func runRestoreStaged(ctx context.Context, r *repo) (result, error) {
	return r.restores(ctx, "--staged")
}

// restores measures a restore of ten files in a clean worktree.
func (r *repo) restores(ctx context.Context, more ...string) (result, error) {
	if err := r.dirty(ctx); err != nil {
		return result{}, err
	}
	if _, err := r.checkpoint(ctx, "save", r.short, "--staged"); err != nil {
		return result{}, err
	}
	tree, err := r.git(ctx, "rev-parse", "refs/checkpoints/"+r.short+":staged")
	if err != nil {
		return result{}, err
	}
	arrived := func(string) error { return r.arrived(ctx, tree) }
	return r.pair(ctx, r.b.runs,
		side{prepare: r.clean, argv: r.ours(append([]string{"restore", r.short}, more...)...), check: arrived},
		side{prepare: r.clean, argv: r.gits("read-tree", "-m", "-u", "HEAD", tree), check: arrived})
}

// arrived checks that the index has the given tree, and that it differs from HEAD.
func (r *repo) arrived(ctx context.Context, tree string) error {
	now, err := r.git(ctx, "write-tree")
	if err == nil && now != tree {
		err = fmt.Errorf("the index is %s, not %s", now, tree)
	}
	if err != nil {
		return err
	}
	changed, err := r.git(ctx, "diff", "--cached", "--name-only", "HEAD")
	if n := lines(changed); err == nil && n != staged {
		err = fmt.Errorf("the index differs from HEAD in %d files, not %d", n, staged)
	}
	return err
}

// runPrune drops the oldest tenth of a chain, another chain in each run, so that almost
// every commit is rewritten.
func runPrune(ctx context.Context, r *repo) (result, error) {
	length := r.b.lengths.prune
	prunes := side{
		prepare: r.rest,
		each:    func(i int) []string { return r.ours("prune", r.prune[i]) },
		check:   counts("drop ", length/10),
	}
	walks := side{
		prepare: r.rest,
		each:    func(i int) []string { return r.gits("rev-list", "--first-parent", wholeRefs+r.prune[i]) },
		check:   counts("", length+1),
	}
	res, err := r.pair(ctx, r.b.few(), prunes, walks)
	if err != nil {
		return res, err
	}
	for _, issue := range r.prune {
		n, err := r.length(ctx, "refs/checkpoints/"+issue)
		if want := length - length/10 + 1; err == nil && n != want {
			err = fmt.Errorf("the chain of issue %s has %d commits, not %d", issue, n, want)
		}
		if err != nil {
			return res, err
		}
	}
	return res, nil
}

// rest prepares only a synced disk.
func (r *repo) rest(context.Context) error { return nil }
