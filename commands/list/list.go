// Package list has the commands that show checkpoints: list, show and diff.
package list

import (
	"cmp"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// ListCommand declares git checkpoint list.
var ListCommand = invoke.Command{
	Name: "list", Alias: "log", Usage: "list an issue's checkpoints, newest first", Args: "[ISSUE]", Max: 1,
	Category: "Look",
	Description: "Marks: * tip, p pinned, r resumable, ! invalid, a archived. On a terminal it is a\n" +
		"timeline by phase, where s marks what could be resumed but is stale.",
	Examples: []string{
		"git checkpoint list 42",
		"git checkpoint list -n 5 --trigger batch_complete",
		"git checkpoint list --all --since 7d --json",
	},
	MayBeEmpty: []string{"phase"},
	Flags:      listFlags,
	Run:        runList,
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
		invoke.OptionalFlag{StringFlag: &cli.StringFlag{Name: "remote", Usage: "what `REMOTE` has, or the configured one; nothing is fetched into the repository"}},
		&cli.StringFlag{Name: "as", Usage: "print what the system of `LAYOUT` would list: crunch, claude, recovery, dotagent or pipeline"},
		invoke.ColorFlag(),
	}
}

func runList(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	as, err := invoke.LayoutFlag(c)
	if err != nil {
		return err
	}
	if as != "" && !c.JSON {
		return listAs(c, as)
	}
	keep, err := listFilter(c)
	if err != nil {
		return err
	}
	if c.Flags.Bool("all") {
		return listAll(c, keep)
	}
	issue, err := issueListed(c)
	if err != nil {
		return err
	}
	l, err := listOf(c, issue)
	if err != nil {
		return err
	}
	if len(l.Checkpoints) == 0 {
		return noneThere(c, &gitstore.NoneError{Issue: issue})
	}
	return showList(c, []*gitstore.List{l}, keep)
}

// listAll prints checkpoints of every readable issue and returns an error for unreadable
// issues.
func listAll(c *invoke.Invocation, keep func(*gitstore.Checkpoint) bool) error {
	if len(c.Args) > 0 {
		return exit.Usagef("list: --all takes no issue")
	}
	if err := listThere(c); err != nil {
		return err
	}
	issues, strange, err := c.Store.Issues(c.Ctx, archive(c))
	if err != nil {
		return err
	}
	invoke.TellStrange(c, strange)
	var lists []*gitstore.List
	failed := c.Each(issues, func(i checkpoint.Issue) error {
		l, err := listOf(c, i)
		if err == nil {
			lists = append(lists, l)
		}
		return err
	})
	if len(lists) == 0 && failed != nil {
		return failed
	}
	return cmp.Or(showList(c, lists, keep), failed)
}

// archive reports whether the flags select archived checkpoints.
func archive(c *invoke.Invocation) bool { return c.Flags.Bool("archived") || c.Flags.Bool("failed") }

// listOf returns an issue's checkpoints, limited by -n. The JSON record and the filters
// need all checkpoints.
func listOf(c *invoke.Invocation, i checkpoint.Issue) (*gitstore.List, error) {
	limit := c.Flags.Int("n")
	if c.JSON || filters(c) {
		limit = 0
	}
	if archive(c) {
		return c.Store.Archived(c.Ctx, i, limit)
	}
	return c.Store.List(c.Ctx, i, limit)
}

func showList(c *invoke.Invocation, lists []*gitstore.List, keep func(*gitstore.Checkpoint) bool) error {
	if c.JSON {
		return c.WriteJSON(listRecord(c, lists, keep))
	}
	at, people, err := c.Screen()
	if err != nil {
		return err
	}
	if people {
		defer c.Page()()
		showTimelines(c, lists, keep, at)
		return nil
	}
	for _, l := range lists {
		for k, i := range pick(c, l, keep) {
			if k == 0 && c.Flags.Bool("all") {
				c.Printf("issue %s\n", output.Clean(string(l.Issue)))
			}
			c.Printf("%s\n", listLine(&l.Checkpoints[i], i == 0, c.Env.Now()))
		}
	}
	return nil
}

// pick returns the indexes of the checkpoints that the filter keeps, at most -n per
// issue.
func pick(c *invoke.Invocation, l *gitstore.List, keep func(*gitstore.Checkpoint) bool) []int {
	var picked []int
	limit := c.Flags.Int("n") // 0 if not given
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

func listRecord(c *invoke.Invocation, lists []*gitstore.List, keep func(*gitstore.Checkpoint) bool) output.CheckpointList {
	result := output.CheckpointList{Type: "list"}
	for _, l := range lists {
		for _, i := range pick(c, l, keep) {
			result.Checkpoints = append(result.Checkpoints, standing.Listed(&l.Checkpoints[i]))
		}
		result.TotalCheckpoints += len(l.Checkpoints)
	}
	if !c.Flags.Bool("all") {
		result.Issue = string(lists[0].Issue)
		result.Latest = string(lists[0].Checkpoints[0].ID)
	}
	return result
}
