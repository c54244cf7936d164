package main

import (
	"context"
	"fmt"
	"time"
)

// wide is the number of files in the directory wide/ of kindWide.
const wide = 5_000

// widePaths returns the files of wide/.
func widePaths() []string {
	list := make([]string, wide)
	for i := range list {
		list[i] = fmt.Sprintf("wide/file%04d.txt", i)
	}
	return list
}

// saveWide changes all files of wide/ and saves them. The save is later than the racy margin, so
// that the stat cache has all files.
func (r *repo) saveWide(ctx context.Context) error {
	if err := r.clean(ctx); err != nil {
		return err
	}
	if err := r.change(widePaths()); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond)
	if _, err := r.checkpoint(ctx, "save", turnIssue); err != nil {
		return err
	}
	return r.b.settle()
}

// runStatusMany compares the status of many changed files that the checkpoint has with git's.
func runStatusMany(ctx context.Context, r *repo) (result, error) {
	if err := r.saveWide(ctx); err != nil {
		return result{}, err
	}
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("status", turnIssue), check: counts("Changed: no file", 1)},
		side{argv: r.gits("status", "--porcelain"), check: counts(" M wide/", wide)})
}

// runRestoreMany compares the restore of many changed files into a clean worktree with a checkout
// of the same files.
func runRestoreMany(ctx context.Context, r *repo) (result, error) {
	if err := r.saveWide(ctx); err != nil {
		return result{}, err
	}
	tree := "refs/checkpoints/" + turnIssue + ":state"
	arrived := func(string) error {
		changed, err := r.git(ctx, "diff", "--name-only", tree, "--", "wide")
		if n := lines(changed); err == nil && n != 0 {
			err = fmt.Errorf("%d files differ from the checkpoint", n)
		}
		return err
	}
	return r.pair(ctx, r.b.few(),
		side{prepare: r.clean, argv: r.ours("restore", turnIssue), check: arrived},
		side{prepare: r.clean, argv: r.gits("checkout", "--quiet", tree, "--", "wide"), check: arrived})
}
