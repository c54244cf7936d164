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
	if err == nil {
		err = c.fixFileFlags("issue-file", "template")
	}
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

// fixFileFlags makes the files that flags name those that the user sees,
// wherever the command goes.
func (c *call) fixFileFlags(names ...string) error {
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
