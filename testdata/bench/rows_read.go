package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

func writeText(file, text string) error { return os.WriteFile(file, []byte(text), 0o666) }

func lines(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

// counts returns a check for the number of output lines with a prefix.
func counts(word string, want int) func(string) error {
	return func(out string) error {
		n := 0
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, word) {
				n++
			}
		}
		if n != want {
			return fmt.Errorf("it printed %d lines with %q, not %d", n, word, want)
		}
		return nil
	}
}

func (r *repo) logs(more ...string) []string {
	args := append([]string{"log", "--first-parent", "--format=%H%n%B"}, more...)
	return r.gits(append(args, "refs/checkpoints/"+r.long)...)
}

// runList lists a verified chain.
func runList(ctx context.Context, r *repo) (result, error) {
	if err := r.verify(ctx); err != nil {
		return result{}, err
	}
	n, err := r.length(ctx, "refs/checkpoints/"+r.long)
	if err != nil {
		return result{}, err
	}
	n-- // the genesis commit is not a checkpoint
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("list", r.long), check: counts("", n)},
		side{argv: r.logs(), check: counts("Checkpoint-Id: ", n)})
}

// verify runs verify on the long chain. Chains have the same form at every size, so only
// list rows need this check.
func (r *repo) verify(ctx context.Context) error {
	n, err := r.length(ctx, "refs/checkpoints/"+r.long)
	if err != nil {
		return err
	}
	out, err := r.checkpoint(ctx, "verify", r.long)
	if err == nil && !strings.HasPrefix(out, fmt.Sprintf("%d checkpoints checked, 0 errors", n-1)) {
		err = fmt.Errorf("verify of %d checkpoints: %s", n-1, out)
	}
	return err
}

func runListNewest(ctx context.Context, r *repo) (result, error) {
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("list", r.long, "-n", "20"), check: counts("", 20)},
		side{argv: r.logs("-n", "20"), check: counts("Checkpoint-Id: ", 20)})
}

// runStatus evaluates a checkpoint of ten staged files.
func runStatus(ctx context.Context, r *repo) (result, error) {
	if err := r.dirty(ctx); err != nil {
		return result{}, err
	}
	if _, err := r.checkpoint(ctx, "save", r.long, "--staged"); err != nil {
		return result{}, err
	}
	if err := r.b.settle(); err != nil {
		return result{}, err
	}
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("status", r.long), check: counts("Resume: ", 1)},
		side{argv: r.gits("status", "--porcelain", "-uall"), check: counts("M ", staged)})
}

func runStart(ctx context.Context, r *repo) (result, error) {
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("version"), check: counts("git-checkpoint ", 1)},
		side{argv: r.gits("rev-parse", "HEAD"), check: printsHash})
}

// silent checks that a command printed no output.
func silent(out string) error { return counts("", 0)(out) }

// runPrePush pushes a branch without an issue, in a repository with checkpoints.
func runPrePush(ctx context.Context, r *repo) (result, error) {
	const zeros = "0000000000000000000000000000000000000000"
	line := "refs/heads/topic " + strings.Repeat("1", len(zeros)) + " refs/heads/topic " + zeros + "\n"
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("hook", "pre-push", "--", "origin", "url"), stdin: line, check: silent},
		side{argv: r.gits("rev-parse", "HEAD"), check: printsHash})
}

// runPostCheckout switches to a branch without an issue.
func runPostCheckout(ctx context.Context, r *repo) (result, error) {
	hash := strings.Repeat("1", 40)
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("hook", "post-checkout", "--", hash, hash, "1"), check: silent},
		side{argv: r.gits("rev-parse", "HEAD"), check: printsHash})
}
