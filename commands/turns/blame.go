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
	Description: "For each line of FILE in the worktree, it prints the checkpoint that brought the line: the\n" +
		"turn, its agent and its request. A line that a later commit has too belongs to the turn that\n" +
		"wrote it. Other lines belong to a commit, or are not saved yet. Changes of a person between\n" +
		"two turns are shown apart if a checkpoint was saved between them. Lines of dropped checkpoints\n" +
		"belong to the next checkpoint that is left.",
	Examples: []string{
		"git checkpoint blame src/tokens.py",
		"git checkpoint blame 42 src/tokens.py -L 1,2",
		"git checkpoint blame src/tokens.py --json",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*blameOptions).flags, runBlame),
}

// blameOptions are the flags of blame.
type blameOptions struct {
	ranges    []string
	porcelain bool
	color     string
}

func (o *blameOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "L", Usage: "only the lines of `RANGE`, as of git blame: 10,20 or 10,+5 or :function", Value: (*invoke.List)(&o.ranges)},
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
	origins, order := originsOf(c, lines)
	if c.Line.JSON {
		return c.WriteJSON(blameRecord(req, lines, origins, order))
	}
	defer c.Page()()
	c.Printf("%s", at.Blame(lines, origins, people))
	return nil
}

// blameRequest returns issue and file of the arguments [ISSUE] FILE.
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
	path, err := c.RootPath(c.Line.Args[len(c.Line.Args)-1])
	return &gitstore.BlameRequest{Issue: issue, Path: path, Ranges: o.ranges}, err
}

// originsOf reads the records of the checkpoints that brought lines, and returns the origins
// with the order of their first lines.
func originsOf(c *invoke.Invocation, lines []gitstore.BlameLine) (map[*gitstore.BlameSource]*view.Origin, []*view.Origin) {
	origins := map[*gitstore.BlameSource]*view.Origin{}
	var order []*view.Origin
	for _, l := range lines {
		if origins[l.Source] != nil {
			continue
		}
		var r *checkpoint.Record
		if l.Source.Checkpoint != nil {
			r, _ = c.Store.Record(l.Source.Checkpoint) // without it, the checkpoint is named
		}
		o := view.OriginOf(l.Source, r)
		origins[l.Source] = &o
		order = append(order, &o)
	}
	return origins, order
}

func blameRecord(req *gitstore.BlameRequest, lines []gitstore.BlameLine, origins map[*gitstore.BlameSource]*view.Origin, order []*view.Origin) view.Blame {
	b := view.Blame{Type: "blame", Issue: string(req.Issue), Path: checkpoint.QuotePath(req.Path)}
	at := map[*view.Origin]int{}
	for i, o := range order {
		at[o] = i
		b.Sources = append(b.Sources, o.Record())
	}
	for _, l := range lines {
		b.Lines = append(b.Lines, view.BlameLine{Line: l.Number, Source: at[origins[l.Source]], Text: l.Text})
	}
	return b
}
