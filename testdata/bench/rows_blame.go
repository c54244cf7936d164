package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Each turn adds a line to grownFile. statesBranch has a commit for each turn.
const (
	grownFile    = "grown.txt"
	statesBranch = "states"
)

// growInTurns switches to the branch of turnIssue, and saves turns that each add a line to a file.
func (r *repo) growInTurns(ctx context.Context, turns int) error {
	err := try(
		r.quietly(ctx, "switch", "--quiet", "--create", "feature/issue-"+turnIssue),
		r.quietly(ctx, "config", "checkpoint.issue-source", "none"),
		r.quietly(ctx, "config", "checkpoint.retention.turn", fmt.Sprint(turns)),
	)
	text := ""
	for n := 0; n < turns && err == nil; n++ {
		text += fmt.Sprintf("line of turn %d\n", n)
		if err = os.WriteFile(filepath.Join(r.dir, grownFile), []byte(text), 0o666); err == nil {
			_, err = r.checkpoint(ctx, "save", turnIssue, "--quiet", "--trigger", "turn", "-m", fmt.Sprint("turn ", n))
		}
	}
	if err == nil {
		_, err = r.checkpoint(ctx, "export", turnIssue, "--as", "commits", statesBranch)
	}
	return err
}

// blames returns blame of some lines, and the range of these lines.
func (r *repo) blames() (blame side, lines string, n int) {
	n = min(20, r.b.lengths.turns)
	lines = fmt.Sprint("1,", n)
	return side{argv: r.here("blame", turnIssue, grownFile, "-L", lines), check: counts("", n)}, lines, n
}

// runBlame compares blame of a file that many turns have changed with git blame of their commits.
func runBlame(ctx context.Context, r *repo) (result, error) {
	ours, lines, n := r.blames()
	return r.pair(ctx, r.b.runs, ours, r.gitBlames(lines, n))
}

// runBlameFirst compares the first blame, which builds the line of commits, with git blame.
func runBlameFirst(ctx context.Context, r *repo) (result, error) {
	ours, lines, n := r.blames()
	ours.prepare = func(ctx context.Context) error { // removes the commits of the line
		return try(
			r.quietly(ctx, "update-ref", "-d", "refs/git-checkpoint/line/"+turnIssue),
			r.quietly(ctx, "repack", "-adq"),
			r.quietly(ctx, "prune", "--expire=now"),
		)
	}
	return r.pair(ctx, r.b.runs, ours, r.gitBlames(lines, n))
}

// gitBlames returns git blame of the commits of all turns.
func (r *repo) gitBlames(lines string, n int) side {
	return side{argv: r.gits("-C", r.dir, "blame", "-L", lines, statesBranch, "--", grownFile), check: counts("", n)}
}
