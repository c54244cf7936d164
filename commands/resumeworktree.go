package commands

import (
	"path/filepath"

	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
)

// moveToWorktree goes on in the worktree of the checkpoint's branch, which is
// made at --worktree's place where there is none.
func (c *call) moveToWorktree() error {
	dir := c.flags.String("worktree")
	if dir == "" {
		return nil
	}
	if c.flags.Bool("dry-run") {
		return usagef("resume: --worktree makes a worktree, and --dry-run makes nothing")
	}
	if c.env.Getenv("GIT_INDEX_FILE") != "" {
		return usagef("resume: --worktree: GIT_INDEX_FILE is set, and git would write the new worktree's index there")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	r := &resumption{}
	if c.flags.Bool("fallback") {
		err = c.fallback(r)
	} else {
		r.cp, err = c.checkpointArg(false)
	}
	if err != nil {
		return err
	}
	place, err := c.store.WorktreeFor(c.ctx, r.cp, dir)
	if err != nil {
		return err
	}
	c.say("%s worktree %s", map[bool]string{true: "made", false: "in"}[place.Made], output.Shell(place.Dir))
	c.close()
	if err := gitstore.Enter(place.Dir); err != nil {
		return err
	}
	c.args = []string{string(r.cp.Issue)}
	if id := string(r.cp.ID); !c.flags.Bool("fallback") && id != "" {
		c.args = append(c.args, id)
	}
	return c.open()
}
