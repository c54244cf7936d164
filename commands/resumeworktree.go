package commands

import (
	"context"
	"path/filepath"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
)

// moveToWorktree changes to the worktree of the checkpoint's branch. If it does not
// exist, it is created at the path of --worktree. No worktree is created for a checkpoint
// that cannot be resumed at all, because the verdict is the same here.
func (c *Invocation) moveToWorktree() (place gitstore.Worktree, err error) {
	dir, err := c.worktreeFlag()
	if err != nil || dir == "" {
		return place, err
	}
	cp, err := c.forWorktree()
	if cp == nil {
		return place, err
	}
	if place, err = c.store.WorktreeFor(c.ctx, cp, dir); err != nil {
		return place, err
	}
	c.infof("%s worktree %s", map[bool]string{true: "made", false: "in"}[place.Created], output.Shell(place.Dir))
	c.close()
	if err := gitstore.EnterWorktree(place.Dir); err != nil {
		return place, err
	}
	c.args = []string{string(cp.Issue)}
	if id := string(cp.ID); !c.flags.Bool("fallback") && id != "" {
		c.args = append(c.args, id)
	}
	return place, c.open()
}

// forWorktree returns the checkpoint to resume, or nil if its own record forbids a
// resume.
func (c *Invocation) forWorktree() (*gitstore.Checkpoint, error) {
	cp, r, err := c.toGoOnFrom()
	if err != nil || !r.CanResume() && !c.flags.Bool("force") {
		return nil, err
	}
	return cp, nil
}

// worktreeFlag returns the absolute path of --worktree, or "".
func (c *Invocation) worktreeFlag() (string, error) {
	dir := c.flags.String("worktree")
	switch {
	case dir == "":
		return "", nil
	case c.flags.Bool("dry-run"):
		return "", exit.Usagef("resume: --worktree makes a worktree, and --dry-run makes nothing")
	case c.env.Getenv("GIT_INDEX_FILE") != "":
		return "", exit.Usagef("resume: --worktree: GIT_INDEX_FILE is set, and git would write the new worktree's index there")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, c.fixFileFlags("issue-file", "template")
}

// leaveWorktree removes a new worktree after a resume that did not happen. If files in it
// have changed, it stays.
func (c *Invocation) leaveWorktree(place gitstore.Worktree) {
	if err := c.store.RemoveWorktree(context.WithoutCancel(c.ctx), place); err != nil {
		c.warnf("%s stays: %v", output.Shell(place.Dir), err)
		return
	}
	c.infof("removed worktree %s again", output.Shell(place.Dir))
}

// fixFileFlags makes the paths of file flags absolute, before the working directory
// changes.
func (c *Invocation) fixFileFlags(names ...string) error {
	for _, name := range names {
		file := c.flags.String(name)
		if file == "" || file == "-" {
			continue
		}
		at, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		if err := c.flags.Set(name, at); err != nil {
			return err
		}
	}
	return nil
}
