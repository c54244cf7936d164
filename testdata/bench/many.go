package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// eachOfMany is the chain length of each issue in repositories with many issues.
const eachOfMany = 10

// many returns issues for kindMany, or one percent of them for kindFew.
func many(n int, k kind) []string {
	if k == kindFew {
		n = max(1, n/100)
	}
	issues := make([]string, n)
	for i := range issues {
		issues[i] = strconv.Itoa(5001 + i)
	}
	return issues
}

// hub returns the path of the remote.
func (r *repo) hub() string { return r.dir + "-hub.git" }

// share creates the remote, pushes all chains, and syncs, so that this clone knows the
// remote's values.
func (r *repo) share(ctx context.Context) error {
	refs, err := r.git(ctx, "for-each-ref", "--format=delete %(refname)", wholeRefs)
	if err != nil {
		return err
	}
	return try(
		func() error { return r.feedText(ctx, refs+"\n", "update-ref", "--stdin") },
		r.quietly(ctx, "init", "--quiet", "--bare", r.hub()),
		r.quietly(ctx, "remote", "add", "origin", r.hub()),
		r.quietly(ctx, "push", "--quiet", "origin", "main", "refs/checkpoints/*:refs/checkpoints/*"),
		r.quietly(ctx, "--git-dir="+r.hub(), "gc", "--quiet", "--prune=now"),
		func() error { _, err := r.checkpoint(ctx, "sync", "--all"); return err },
		r.quietly(ctx, "pack-refs", "--all"),
	)
}

// newClone returns a new clone of the remote without checkpoints.
func (r *repo) newClone(ctx context.Context, i int) (string, error) {
	dir := filepath.Join(r.b.work, fmt.Sprintf("%s-clone-%d", filepath.Base(r.dir), i))
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	_, err := r.git(ctx, "clone", "--quiet", "--no-checkout", "--branch=main", "file://"+r.hub(), dir)
	return dir, err
}
