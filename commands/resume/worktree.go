package resume

import (
	"context"
	"path/filepath"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// moveToWorktree changes to the worktree at the path of --worktree. If it does not exist, it is
// created for the checkpoint's branch. No worktree is created for a checkpoint
// that cannot be resumed at all, because the verdict is the same here.
func moveToWorktree(c *invoke.Invocation, o *resumeOptions) (place gitstore.Worktree, err error) {
	dir, err := worktreeDir(c, o)
	if err != nil || dir == "" {
		return place, err
	}
	r, err := forWorktree(c, o)
	if r == nil {
		return place, err
	}
	cp := r.Checkpoint
	if place, err = c.Store.Worktrees.FindOrAdd(c.Ctx, cp, dir); err != nil {
		return place, err
	}
	c.Infof("%s worktree %s", map[bool]string{true: "made", false: "in"}[place.Created], view.Shell(place.Dir))
	c.Close()
	if err := gitstore.EnterWorktree(place.Dir); err != nil {
		return place, err
	}
	c.Line.Args = []string{string(cp.Issue)}
	if id := string(cp.ID); !o.fallback && id != "" && !r.Point.WentBack() {
		c.Line.Args = append(c.Line.Args, id)
	}
	return place, c.Open()
}

// forWorktree returns the resumption of the checkpoint to resume, or nil if its own record
// forbids a resume.
func forWorktree(c *invoke.Invocation, o *resumeOptions) (*resumption, error) {
	r := &resumption{options: o, Standing: view.Standing{Now: c.Env.Now()}}
	if err := toGoOnFrom(c, r); err != nil || !r.Record.CanResume() && !o.force {
		return nil, err
	}
	return r, nil
}

// worktreeDir returns the absolute path of --worktree, or "". It makes the paths of files
// absolute too, before the working directory changes.
func worktreeDir(c *invoke.Invocation, o *resumeOptions) (string, error) {
	switch {
	case o.worktree == "":
		return "", nil
	case o.dryRun:
		return "", failure.Usagef("resume: --worktree makes a worktree, and --dry-run makes nothing")
	case c.Env.Getenv("GIT_INDEX_FILE") != "":
		return "", failure.Usagef("resume: --worktree: GIT_INDEX_FILE is set, and git would write the new worktree's index there")
	}
	for _, file := range []*string{&o.judge.Issue.File, &o.template} {
		if *file == "" || *file == "-" {
			continue
		}
		var err error
		if *file, err = filepath.Abs(*file); err != nil {
			return "", err
		}
	}
	return filepath.Abs(o.worktree)
}

// leaveWorktree removes a new worktree after a resume that did not happen. If files in it
// have changed, it stays.
func leaveWorktree(c *invoke.Invocation, place gitstore.Worktree) {
	if err := c.Store.Worktrees.Remove(context.WithoutCancel(c.Ctx), place); err != nil {
		c.Warnf("%s stays: %v", view.Shell(place.Dir), err)
		return
	}
	c.Infof("removed worktree %s again", view.Shell(place.Dir))
}
