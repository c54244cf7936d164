package resume

import (
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
	r := &resumption{options: o, Standing: view.Standing{Now: c.Env.Now()}}
	if err := toGoOnFrom(c, r); err != nil || !r.Record.CanResume() && !o.force {
		return place, err
	}
	cp := r.Checkpoint
	fetchBranch(c, o, cp.Branch)
	if place, err = c.Store.Facts.FindOrAddWorktree(c.Ctx, cp, dir); err != nil {
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
