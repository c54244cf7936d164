package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// turnIssue is the issue of the branch in repositories with turns.
const turnIssue = "42"

// Files that each turn of an agent changes.
const (
	changedInTurn   = 3
	untrackedInTurn = 2
)

// turnHook returns a side that runs the hook at the end of a turn of an agent.
func (r *repo) turnHook() (side, error) {
	input, err := json.Marshal(map[string]string{
		"session_id": "0d5a0e0e-3d0c-4f86-8f6c-0d3f5a9b7c11", "cwd": r.dir, "hook_event_name": "Stop",
	})
	return side{
		prepare: func(context.Context) error { return r.turn() },
		argv:    r.ours("-C", r.dir, "hook", "turn", "claude"), stdin: string(input),
		env: []string{"GIT_CHECKPOINT_MIN_INTERVAL=0"},
		check: func(out string) error {
			if out != "" {
				return fmt.Errorf("it printed %.200q", out)
			}
			return nil
		},
	}, err
}

// turn changes tracked and untracked files.
func (r *repo) turn() error {
	if err := r.change(r.pick(changedInTurn, 0)); err != nil {
		return err
	}
	for i := range untrackedInTurn {
		file := filepath.Join(r.dir, fmt.Sprintf("new%d.txt", i))
		if err := os.WriteFile(file, []byte("new: "+rand.Text()+"\n"), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// branchWithTurns switches to the branch of turnIssue, and saves turns.
func (r *repo) branchWithTurns(ctx context.Context, turns int) error {
	err := try(
		r.quietly(ctx, "switch", "--quiet", "--create", "feature/issue-"+turnIssue),
		r.quietly(ctx, "config", "checkpoint.issue-source", "none"),
	)
	if err != nil {
		return err
	}
	hook, err := r.turnHook()
	if err != nil {
		return err
	}
	hook.prepare = nil // syncs the disk
	for range turns {
		if err := r.turn(); err != nil {
			return err
		}
		if _, err := r.timed(ctx, hook, 0, true); err != nil {
			return err
		}
	}
	return nil
}

// saved returns the number of saved turns: one for each line of the chain's reflog.
func (r *repo) saved(ctx context.Context) (int, error) {
	out, err := r.git(ctx, "reflog", "show", "--format=%gs", "refs/checkpoints/"+turnIssue)
	return strings.Count("\n"+out, "\nsave: "), err
}

// runTurn compares the hook of a turn with the git commands that find the same files.
func runTurn(ctx context.Context, r *repo) (result, error) {
	hook, err := r.turnHook()
	if err != nil {
		return result{}, err
	}
	gits := side{
		prepare: hook.prepare, argv: r.gits("stash", "create"), then: r.gits("ls-files", "--others", "--exclude-standard"),
		check: func(out string) error { return matches(out, `^[0-9a-f]{40,64}\n(new\d\.txt\n){2}$`) },
	}
	res, err := r.turnPair(ctx, hook, gits)
	if err != nil {
		return res, err
	}
	kept, err := r.git(ctx, "diff", "--name-only", "refs/checkpoints/"+turnIssue+":staged", "refs/checkpoints/"+turnIssue+":state")
	if err != nil {
		return res, err
	}
	if n := lines(kept); n != changedInTurn+untrackedInTurn {
		return res, fmt.Errorf("state/ has %d files that staged/ lacks, not %d", n, changedInTurn+untrackedInTurn)
	}
	return res, nil
}

// runTurnIdle compares a turn that changed nothing, in a worktree with many untracked files,
// with git status.
func runTurnIdle(ctx context.Context, r *repo) (result, error) {
	hook, err := r.turnHook()
	if err != nil {
		return result{}, err
	}
	if _, err := r.timed(ctx, hook, 0, true); err != nil {
		return result{}, err
	}
	hook.prepare = r.rest
	gits := side{prepare: r.rest, argv: r.gits("status", "--porcelain", "-uall"), check: counts("?? out/", untracked)}
	before, err := r.saved(ctx)
	if err != nil {
		return result{}, err
	}
	res, err := r.pair(ctx, r.b.runs, hook, gits)
	if err != nil {
		return res, err
	}
	after, err := r.saved(ctx)
	if err == nil && after != before {
		err = fmt.Errorf("%d idle turns are saved", after-before)
	}
	return res, err
}

// runTurnUntracked compares a turn in a worktree with many untracked files with the git
// commands that find the same files.
func runTurnUntracked(ctx context.Context, r *repo) (result, error) {
	hook, err := r.turnHook()
	if err != nil {
		return result{}, err
	}
	gits := side{
		prepare: hook.prepare, argv: r.gits("stash", "create"), then: r.gits("ls-files", "--others", "--exclude-standard"),
		check: counts("out/", untracked),
	}
	return r.turnPair(ctx, hook, gits)
}

// runTurnTouched compares a turn whose index has other times than all files with a turn
// whose index is fresh. A save has read the files before. Git never refreshes the index.
func runTurnTouched(ctx context.Context, r *repo) (result, error) {
	plain, err := r.b.repo(ctx, kindTurns, r.scale)
	if err != nil {
		return result{}, err
	}
	if _, err := r.checkpoint(ctx, "save", turnIssue); err != nil {
		return result{}, err
	}
	touched, err := r.turnHook()
	if err != nil {
		return result{}, err
	}
	fresh, err := plain.turnHook()
	if err != nil {
		return result{}, err
	}
	return r.turnPair(ctx, touched, fresh)
}

// runTurnLate compares a turn after many turns with a turn after a few.
func runTurnLate(ctx context.Context, r *repo) (result, error) {
	few, err := r.b.repo(ctx, kindFewTurns, r.scale)
	if err != nil {
		return result{}, err
	}
	late, err := r.turnHook()
	if err != nil {
		return result{}, err
	}
	early, err := few.turnHook()
	if err != nil {
		return result{}, err
	}
	return r.turnPair(ctx, late, early)
}

// turnPair measures two sides, and checks that each run of the first saves a turn.
func (r *repo) turnPair(ctx context.Context, hook, other side) (result, error) {
	before, err := r.saved(ctx)
	if err != nil {
		return result{}, err
	}
	res, err := r.pair(ctx, r.b.runs, hook, other)
	if err != nil {
		return res, err
	}
	after, err := r.saved(ctx)
	if want := before + r.b.runs + r.b.warmups; err == nil && after != want {
		err = fmt.Errorf("%d turns are saved, not %d", after, want)
	}
	return res, err
}
