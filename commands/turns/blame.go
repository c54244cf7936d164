// Package turns has the commands that ask the states of the work for their history: blame and
// bisect.
package turns

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// BlameCommand declares git checkpoint blame.
var BlameCommand = invoke.Command{
	Name: "blame", Usage: "show which turn or commit brought each line of a file", Args: "[ISSUE] FILE", Max: 2, Category: "Look",
	ShortHelp: []string{"L"},
	Description: "For each line of FILE in the worktree, or as of --at, it prints the checkpoint that brought\n" +
		"the line: the turn, its agent and its request. A line that a commit has too belongs to the\n" +
		"turn that wrote it. Other lines belong to a commit, or are not saved yet. Changes of a\n" +
		"person between two turns are shown apart if a checkpoint was saved between them. Lines of\n" +
		"dropped checkpoints belong to the next checkpoint that is left. `git checkpoint web` shows\n" +
		"the same beside each file.",
	Examples: []string{
		"git checkpoint blame src/tokens.py",
		"git checkpoint blame 42 src/tokens.py -L 1,2",
		"git checkpoint blame src/tokens.py --at latest~3 --json",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*blameOptions).flags, runBlame),
}

type blameOptions struct {
	ranges    []string
	at        string // name of a checkpoint, or "" for the file in the worktree
	porcelain bool
	color     string
}

func (o *blameOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "L", Usage: "only the lines of `RANGE`, as of git blame: 10,20 or 10,+5 or :function", Value: (*invoke.List)(&o.ranges)},
		&cli.StringFlag{Name: "at", Usage: "the file as of the checkpoint `ID` instead of the worktree", Destination: &o.at},
		&cli.BoolFlag{Name: "porcelain", Usage: "print the format of git blame --porcelain", Destination: &o.porcelain},
		invoke.ColorFlag(&o.color),
	}
}

func runBlame(c *invoke.Invocation, o *blameOptions) error {
	if o.porcelain && c.Line.JSON {
		return failure.Usagef("blame: --porcelain and --json cannot be combined")
	}
	if err := c.Open(); err != nil {
		return err
	}
	at, people, err := c.Screen(o.color)
	if err != nil {
		return err
	}
	req, err := blameRequest(c, o)
	if err != nil {
		return err
	}
	lines, err := c.Store.Blame(c.Ctx, *req)
	if err != nil {
		return err
	}
	if o.porcelain {
		text := view.BlamePorcelain(lines)
		if c.AtTerminal() {
			text = view.CleanBlock(text)
		}
		c.Printf("%s", text)
		return nil
	}
	blamed := view.BlameOf(lines, func(cp *gitstore.Checkpoint) *checkpoint.Record {
		r, _ := c.Store.Record(cp) // without it, the checkpoint is named
		return r
	})
	if c.Line.JSON {
		return c.WriteJSON(blamed.Record(req.Issue, req.Path))
	}
	defer c.Page()()
	c.Printf("%s", at.Blame(blamed, people))
	return nil
}

func blameRequest(c *invoke.Invocation, o *blameOptions) (req *gitstore.BlameRequest, err error) {
	if len(c.Line.Args) == 0 {
		return nil, failure.Usagef("blame: no file given")
	}
	var issue checkpoint.Issue
	if len(c.Line.Args) == 2 {
		if issue, err = c.ParseIssueArg(c.Line.Args[0]); err == nil {
			err = invoke.Agree(c, issue)
		}
	} else {
		issue, err = c.InferIssue()
	}
	if err != nil {
		return nil, err
	}
	c.Subject.Issue = issue
	req = &gitstore.BlameRequest{Issue: issue, Ranges: o.ranges}
	if o.at != "" {
		cp, err := c.Find(issue, o.at)
		if err != nil {
			return nil, err
		}
		req.At = cp.ID
	}
	req.Path, err = c.RootPath(c.Line.Args[len(c.Line.Args)-1])
	return req, err
}
