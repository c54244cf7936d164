package main

import (
	"context"
	"fmt"
	"strings"
)

func (r *repo) logs(more ...string) []string {
	args := append([]string{"log", "--first-parent", "--format=%H%n%B"}, more...)
	return r.gits(append(args, "refs/checkpoints/"+r.long)...)
}

// runList lists a verified chain.
func runList(ctx context.Context, r *repo) (result, error) {
	n, err := r.length(ctx, r.long)
	if err != nil {
		return result{}, err
	}
	n-- // the genesis commit is not a checkpoint
	out, err := r.checkpoint(ctx, "verify", r.long)
	if err == nil && !strings.HasPrefix(out, fmt.Sprintf("%d checkpoints checked, 0 errors", n)) {
		err = fmt.Errorf("verify of %d checkpoints: %s", n, out)
	}
	if err != nil {
		return result{}, err
	}
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("list", r.long), check: counts("", n)},
		side{argv: r.logs(), check: counts("Checkpoint-Id: ", n)})
}

func runListNewest(ctx context.Context, r *repo) (result, error) {
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("list", r.long, "-n", "20"), check: counts("", 20)},
		side{argv: r.logs("-n", "20"), check: counts("Checkpoint-Id: ", 20)})
}

func runVersion(ctx context.Context, r *repo) (result, error) {
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("version"), check: counts("git-checkpoint ", 1)},
		side{argv: []string{r.b.line}, check: counts("", 1)})
}

func (r *repo) parsesHead() side {
	return side{argv: r.gits("rev-parse", "HEAD"), check: printsHash}
}

// runPrePush pushes a branch without an issue, in a repository with checkpoints.
func runPrePush(ctx context.Context, r *repo) (result, error) {
	const zeros = "0000000000000000000000000000000000000000"
	line := "refs/heads/topic " + strings.Repeat("1", len(zeros)) + " refs/heads/topic " + zeros + "\n"
	return r.pair(ctx, r.b.runs, side{argv: r.ours("hook", "pre-push", "--", "origin", "url"), stdin: line, check: silent}, r.parsesHead())
}

// runPostCheckout switches to a branch without an issue.
func runPostCheckout(ctx context.Context, r *repo) (result, error) {
	return r.pair(ctx, r.b.runs, postCheckout(r), r.parsesHead())
}

// postCheckout returns a side that runs the hook of a checkout.
func postCheckout(r *repo) side {
	hash := strings.Repeat("1", 40)
	return side{argv: r.here("hook", "post-checkout", "--", hash, hash, "1"), check: silent}
}
