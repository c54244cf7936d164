package commands

import (
	"cmp"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

var listCommand = command{
	name: "list", alias: "log", usage: "list an issue's checkpoints, newest first", args: "[ISSUE]", max: 1,
	category: "Look",
	description: "Marks: * tip, p pinned, r resumable, ! invalid, a archived. On a terminal it is a\n" +
		"timeline by phase, where s marks what could be resumed but is stale.",
	examples: []string{
		"git checkpoint list 42",
		"git checkpoint list -n 5 --trigger batch_complete",
		"git checkpoint list --all --since 7d --json",
	},
	mayBeEmpty: []string{"phase"},
	flags:      listFlags,
	run:        runList,
}

func listFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "n", Usage: "at most `N` of an issue"},
		&cli.BoolFlag{Name: "all", Usage: "of every issue"},
		&cli.StringFlag{Name: "trigger", Usage: "only those with `TRIGGER`"},
		&cli.StringFlag{Name: "phase", Usage: "only those in `PHASE`"},
		&cli.StringFlag{Name: "since", Usage: "only those made since `TIME` (RFC 3339, a date, or an age such as 36h or 7d)"},
		&cli.StringFlag{Name: "before", Usage: "only those made before `TIME`"},
		&cli.StringSliceFlag{Name: "filter", Usage: "only those whose record has `PATH=VALUE`"},
		&cli.BoolFlag{Name: "archived", Usage: "those in the archive instead"},
		&cli.BoolFlag{Name: "failed", Usage: "those that went to the archive because the work failed"},
		optionalFlag{&cli.StringFlag{Name: "remote", Usage: "what `REMOTE` has, or the configured one; nothing is fetched into the repository"}},
		&cli.StringFlag{Name: "as", Usage: "print what the system of `LAYOUT` would list: crunch, claude, recovery, dotagent or pipeline"},
		colorFlag(),
	}
}

func runList(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	as, err := c.layoutFlag()
	if err != nil {
		return err
	}
	if as != "" && !c.json {
		return c.listAs(as)
	}
	keep, err := c.listFilter()
	if err != nil {
		return err
	}
	if c.flags.Bool("all") {
		return c.listAll(keep)
	}
	issue, err := c.issueListed()
	if err != nil {
		return err
	}
	l, err := c.listOf(issue)
	if err != nil {
		return err
	}
	if len(l.Checkpoints) == 0 {
		return c.noneThere(&gitstore.NoneError{Issue: issue})
	}
	return c.showList([]*gitstore.List{l}, keep)
}

// listAll prints checkpoints of every readable issue and returns an error for unreadable
// issues.
func (c *Invocation) listAll(keep func(*gitstore.Checkpoint) bool) error {
	if len(c.args) > 0 {
		return exit.Usagef("list: --all takes no issue")
	}
	if err := c.listThere(); err != nil {
		return err
	}
	issues, strange, err := c.store.Issues(c.ctx, c.archive())
	if err != nil {
		return err
	}
	c.tellStrange(strange)
	var lists []*gitstore.List
	failed := c.each(issues, func(i checkpoint.Issue) error {
		l, err := c.listOf(i)
		if err == nil {
			lists = append(lists, l)
		}
		return err
	})
	if len(lists) == 0 && failed != nil {
		return failed
	}
	return cmp.Or(c.showList(lists, keep), failed)
}

// archive reports whether the flags select archived checkpoints.
func (c *Invocation) archive() bool { return c.flags.Bool("archived") || c.flags.Bool("failed") }

// listOf returns an issue's checkpoints, limited by -n. The JSON record and the filters
// need all checkpoints.
func (c *Invocation) listOf(i checkpoint.Issue) (*gitstore.List, error) {
	limit := c.flags.Int("n")
	if c.json || c.filters() {
		limit = 0
	}
	if c.archive() {
		return c.store.Archived(c.ctx, i, limit)
	}
	return c.store.List(c.ctx, i, limit)
}

func (c *Invocation) showList(lists []*gitstore.List, keep func(*gitstore.Checkpoint) bool) error {
	if c.json {
		return c.write(c.listRecord(lists, keep))
	}
	at, people, err := c.screen()
	if err != nil {
		return err
	}
	if people {
		defer c.page()()
		c.showTimelines(lists, keep, at)
		return nil
	}
	for _, l := range lists {
		for k, i := range c.pick(l, keep) {
			if k == 0 && c.flags.Bool("all") {
				c.print("issue %s\n", output.Clean(string(l.Issue)))
			}
			c.print("%s\n", listLine(&l.Checkpoints[i], i == 0, c.env.Now()))
		}
	}
	return nil
}

// pick returns the indexes of the checkpoints that the filter keeps, at most -n per
// issue.
func (c *Invocation) pick(l *gitstore.List, keep func(*gitstore.Checkpoint) bool) []int {
	var picked []int
	limit := c.flags.Int("n") // 0 if not given
	for i := range l.Checkpoints {
		if limit > 0 && len(picked) == limit {
			break
		}
		if keep(&l.Checkpoints[i]) {
			picked = append(picked, i)
		}
	}
	return picked
}

func (c *Invocation) listRecord(lists []*gitstore.List, keep func(*gitstore.Checkpoint) bool) output.CheckpointList {
	result := output.CheckpointList{Type: "list"}
	for _, l := range lists {
		for _, i := range c.pick(l, keep) {
			result.Checkpoints = append(result.Checkpoints, listed(&l.Checkpoints[i]))
		}
		result.TotalCheckpoints += len(l.Checkpoints)
	}
	if !c.flags.Bool("all") {
		result.Issue = string(lists[0].Issue)
		result.Latest = string(lists[0].Checkpoints[0].ID)
	}
	return result
}
