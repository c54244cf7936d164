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

// Files that change before each run of most rows.
const (
	changed         = 10
	changedInTurn   = 3
	untrackedInTurn = 2
)

// work returns a step that changes tracked files and writes untracked files.
func (r *repo) work(tracked, untracked int) func(context.Context) error {
	return func(context.Context) error {
		if err := r.change(r.pick(tracked)); err != nil {
			return err
		}
		for i := range untracked {
			file := filepath.Join(r.dir, fmt.Sprintf("new%d.txt", i))
			if err := os.WriteFile(file, []byte("new: "+rand.Text()+"\n"), 0o666); err != nil {
				return err
			}
		}
		return nil
	}
}

// saves returns a side that saves changed files and a new one.
func (r *repo) saves(issue string) side {
	return side{prepare: r.work(changed, 1), argv: r.ours("save", issue, "-m", "after batch 3"), check: printsID}
}

func (r *repo) stashes() side {
	return side{prepare: r.work(changed, 1), argv: r.gits("stash", "create"), check: printsHash}
}

func runSave(ctx context.Context, r *repo) (result, error) {
	res, err := r.growing(ctx, r.short, r.saves(r.short), r.stashes())
	if err != nil {
		return res, err
	}
	return res, r.captured(ctx, r.short, changed+1)
}

// runSaveUntracked saves again in a worktree with many untracked files.
func runSaveUntracked(ctx context.Context, r *repo) (result, error) {
	gits := r.stashes()
	gits.then, gits.check = r.gits("ls-files", "--others", "--exclude-standard"), counts("out/", untracked)
	return r.growing(ctx, turnIssue, r.saves(turnIssue), gits)
}

func runSaveLong(ctx context.Context, r *repo) (result, error) {
	return r.growing(ctx, r.long, r.saves(r.long), r.saves(r.short))
}

// turnIssue is the issue of the branch in repositories with turns.
const turnIssue = "42"

// turnHook returns a side that runs the hook at the end of a turn of an agent.
func (r *repo) turnHook() side {
	input, _ := json.Marshal(map[string]string{
		"session_id": "0d5a0e0e-3d0c-4f86-8f6c-0d3f5a9b7c11", "cwd": r.dir, "hook_event_name": "Stop",
	})
	return side{
		prepare: r.work(changedInTurn, untrackedInTurn),
		argv:    r.here("hook", "turn", "claude"), stdin: string(input),
		env: []string{"GIT_CHECKPOINT_MIN_INTERVAL=0"}, check: silent,
	}
}

// branchWithTurn switches to the branch of turnIssue, and saves a turn.
func (r *repo) branchWithTurn(ctx context.Context) error {
	hook := r.turnHook()
	return try(
		r.quietly(ctx, "switch", "--quiet", "--create", "feature/issue-"+turnIssue),
		r.quietly(ctx, "config", "checkpoint.issue-source", "none"),
		func() error { _, err := r.timed(ctx, hook, 0, true); return err },
	)
}

// runTurnIdle compares a turn that changed nothing with git status.
func runTurnIdle(ctx context.Context, r *repo) (result, error) {
	hook := r.turnHook()
	if _, err := r.timed(ctx, hook, 0, true); err != nil {
		return result{}, err
	}
	before, err := r.saved(ctx)
	if err != nil {
		return result{}, err
	}
	hook.prepare = r.rest
	gits := side{prepare: r.rest, argv: r.gits("status", "--porcelain"), check: counts("?? new", untrackedInTurn)}
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

// runTurn compares the hook of a turn with git stash create.
func runTurn(ctx context.Context, r *repo) (result, error) {
	hook := r.turnHook()
	before, err := r.saved(ctx)
	if err != nil {
		return result{}, err
	}
	res, err := r.pair(ctx, r.b.runs, hook, side{prepare: hook.prepare, argv: r.gits("stash", "create"), check: printsHash})
	if err != nil {
		return res, err
	}
	after, err := r.saved(ctx)
	if want := before + r.b.runs + r.b.warmups; err == nil && after != want {
		err = fmt.Errorf("%d turns are saved, not %d", after, want)
	}
	if err != nil {
		return res, err
	}
	return res, r.captured(ctx, turnIssue, changedInTurn+untrackedInTurn)
}

// saved returns the number of saved turns: one for each line of the chain's reflog.
func (r *repo) saved(ctx context.Context) (int, error) {
	out, err := r.git(ctx, "reflog", "show", "--format=%gs", "refs/checkpoints/"+turnIssue)
	return strings.Count("\n"+out, "\nsave: "), err
}

func runStatus(ctx context.Context, r *repo) (result, error) {
	if err := r.saveChanged(ctx, r.long); err != nil {
		return result{}, err
	}
	return r.pair(ctx, r.b.runs,
		side{argv: r.ours("status", r.long), check: counts("Resume: ", 1)},
		side{argv: r.gits("status", "--porcelain"), check: counts(" M ", changed)})
}

// saveChanged saves a checkpoint of changed files.
func (r *repo) saveChanged(ctx context.Context, issue string) error {
	return try(
		func() error { return r.clean(ctx) },
		func() error { return r.work(changed, 0)(ctx) },
		func() error { _, err := r.checkpoint(ctx, "save", issue); return err },
		r.b.settle,
	)
}

// runRestore restores changed files into a clean worktree.
func runRestore(ctx context.Context, r *repo) (result, error) {
	if err := r.saveChanged(ctx, r.short); err != nil {
		return result{}, err
	}
	stash, err := r.git(ctx, "stash", "create")
	if err != nil {
		return result{}, err
	}
	arrived := func(string) error {
		out, err := r.git(ctx, "diff", "--name-only", "HEAD")
		if err != nil {
			return err
		}
		return counts("", changed)(out + "\n")
	}
	return r.pair(ctx, r.b.runs,
		side{prepare: r.clean, argv: r.ours("restore", r.short), check: arrived},
		side{prepare: r.clean, argv: r.gits("stash", "apply", "--quiet", stash), check: arrived})
}

// runPush counts the objects of a push of an issue's first checkpoint to a remote that has
// HEAD, and those of a push of the same work as git stash create makes it.
func runPush(ctx context.Context, r *repo) (result, error) {
	const issue = "3001"
	err := try(
		func() error { return r.clean(ctx) },
		func() error { return r.work(1, 0)(ctx) },
		func() error { _, err := r.checkpoint(ctx, "save", issue); return err },
	)
	if err != nil {
		return result{}, err
	}
	stash, err := r.git(ctx, "stash", "create")
	if err != nil {
		return result{}, err
	}
	var objects [2]int
	for i, spec := range []string{"refs/checkpoints/" + issue, stash + ":refs/heads/stash"} {
		remote := fmt.Sprintf("%s-remote%d.git", r.dir, i)
		err := try(
			r.quietly(ctx, "init", "--quiet", "--bare", remote),
			r.quietly(ctx, "push", "--quiet", remote, "HEAD:refs/heads/main"),
		)
		if err != nil {
			return result{}, err
		}
		_, said, err := r.b.both(ctx, r.dir, nil, r.gits("push", "--progress", remote, spec)...)
		if err != nil {
			return result{}, err
		}
		if objects[i], err = sent(said); err != nil {
			return result{}, err
		}
	}
	return counted(objects[0], objects[1]+8), nil
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
