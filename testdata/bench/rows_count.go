package main

import (
	"context"
	"fmt"
	"strings"
)

// runObjects counts objects added by one save. The count must be exact: more objects are
// waste, and fewer objects mean missing data. The issue has one checkpoint, of staged files
// alone: a save of the staged files carries what an earlier one captured besides them.
func runObjects(ctx context.Context, r *repo) (result, error) {
	const issue = "3002"
	err := try(
		func() error { return r.clean(ctx) },
		func() error { _, err := r.checkpoint(ctx, "save", issue, "--staged"); return err },
		func() error { return r.dirty(ctx) },
	)
	if err != nil {
		return result{}, err
	}
	before, err := r.objects(ctx)
	if err != nil {
		return result{}, err
	}
	if _, err := r.checkpoint(ctx, "save", issue, "--staged"); err != nil {
		return result{}, err
	}
	after, err := r.objects(ctx)
	if err != nil {
		return result{}, err
	}
	want := 1 + 3 + changedDirs(r.pick(staged, 0)) + 2
	if after-before < want {
		return result{}, fmt.Errorf("a save added %d objects, fewer than %d", after-before, want)
	}
	return counted(after-before, want), nil
}

// objects returns the number of loose and packed objects.
func (r *repo) objects(ctx context.Context) (int, error) {
	out, err := r.git(ctx, "count-objects", "-v")
	if err != nil {
		return 0, err
	}
	sum := 0
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if key != "count" && key != "in-pack" {
			continue
		}
		var n int
		if _, err := fmt.Sscan(value, &n); err != nil {
			return 0, fmt.Errorf("count objects: %q: %w", line, err)
		}
		sum += n
	}
	return sum, nil
}

// runPush saves an issue's first checkpoint with one staged file, and pushes it to a
// remote that has HEAD.
func runPush(ctx context.Context, r *repo) (result, error) {
	remote, issue, one := r.dir+"-remote.git", "3001", r.pick(1, 2)
	err := try(
		func() error { return r.clean(ctx) },
		func() error { return r.change(one) },
		r.quietly(ctx, "add", "--", one[0]),
		r.quietly(ctx, "init", "--quiet", "--bare", remote),
		r.quietly(ctx, "push", "--quiet", remote, "HEAD:refs/heads/main"),
		func() error { _, err := r.checkpoint(ctx, "save", issue, "--staged"); return err },
	)
	if err != nil {
		return result{}, err
	}
	_, said, err := r.b.both(ctx, r.dir, nil, r.gits("push", "--progress", remote, "refs/checkpoints/"+issue)...)
	if err != nil {
		return result{}, err
	}
	n, err := sent(said)
	return counted(n, 12), err
}

// quietly returns a step that runs git.
func (r *repo) quietly(ctx context.Context, args ...string) func() error {
	return func() error {
		_, err := r.git(ctx, args...)
		return err
	}
}

// sent parses the number of objects sent by a push.
func sent(progress string) (int, error) {
	for line := range strings.FieldsFuncSeq(progress, func(c rune) bool { return c == '\n' || c == '\r' }) {
		var n int
		if _, err := fmt.Sscanf(line, "Total %d (", &n); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("git push does not say how much it sent: %q", progress)
}
