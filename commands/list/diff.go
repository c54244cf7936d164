package list

import (
	"cmp"
	"errors"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/diff"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// DiffCommand declares git checkpoint diff.
var DiffCommand = invoke.Command{
	Name: "diff", Usage: "show the changes between two checkpoints", Args: "[ISSUE] [A] [B] [-- PATH...]", Max: 3, Category: "Look",
	Everyday: true, ShortHelp: []string{"state", "stat"},
	Description: "A is the earlier checkpoint, and B the later one, by default the newest. Without A and\n" +
		"B, the newest checkpoint is compared with the one before it. Of the record it shows\n" +
		"paths that were added, removed, changed or moved in a list, and long texts by line.\n" +
		"Then it shows files as git diff does, from the worktree if it was captured, else from\n" +
		"the staging area.",
	Examples: []string{
		"git checkpoint diff 42",
		"git checkpoint diff 42 latest~3 --stat",
		"git checkpoint diff 42 first --stat --json",
		"git checkpoint diff 42 latest~1 latest -- src",
		"git checkpoint diff 42 latest~1 --json",
		"git checkpoint diff 42 --turn 1",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*diffOptions).flags, runDiff),
}

type diffOptions struct {
	state bool // compare only the records
	stat  bool // print only the numbers of changes
	color string
}

func (o *diffOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "state", Usage: "show changes of the record only", Destination: &o.state},
		&cli.BoolFlag{Name: "stat", Usage: "show the number of changed lines of each file", Destination: &o.stat},
		&cli.IntFlag{Name: "turn", Usage: "show the changes of the turn of an agent with number `N`, as of list --turns"},
		invoke.ColorFlag(&o.color),
	}
}

// A difference holds the changes between two checkpoints.
type difference struct {
	from, to *gitstore.Checkpoint // from is nil for HEAD at the save of to
	state    []diff.FieldChange
	files    *gitstore.TreeDiff // nil if --state is set
}

func runDiff(c *invoke.Invocation, o *diffOptions) error {
	if err := c.Open(); err != nil {
		return err
	}
	at, people, err := c.Screen(o.color)
	if err != nil {
		return err
	}
	d, err := readDifference(c, !o.state)
	if err != nil {
		return err
	}
	if c.Line.JSON {
		return diffJSON(c, d, o.stat)
	}
	defer c.Page()()
	if err := showDifference(c, d, o.stat, at, people); !invoke.LeftPager(err) {
		return err
	}
	return nil
}

// readDifference compares the records of the two checkpoints, and with files their trees.
func readDifference(c *invoke.Invocation, files bool) (*difference, error) {
	d, err := sides(c)
	if err != nil {
		return nil, err
	}
	before := checkpoint.New()
	if d.from != nil {
		if before, err = c.Store.Record(d.from); err != nil {
			return nil, err
		}
	}
	after, err := c.Store.Record(d.to)
	if err != nil {
		return nil, err
	}
	d.state = view.RecordChanges(before, after)
	if files {
		d.files, err = c.Store.Files.Compare(d.from, d.to, c.Line.Paths...)
	}
	return d, err
}

// sides finds the two checkpoints. With --turn they are the turn and the checkpoint that its files
// came from, or nil if they came from HEAD.
func sides(c *invoke.Invocation) (*difference, error) {
	d := &difference{}
	if c.Line.Flags.IsSet("turn") {
		issue, name, err := c.IssueAndName()
		if err != nil {
			return nil, err
		}
		if d.to, err = c.Find(issue, name); err != nil {
			return nil, err
		}
		l, err := c.Store.List(c.Ctx, issue, 0)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(l.Checkpoints, func(cp gitstore.Checkpoint) bool { return cp.ID == d.to.ID }); i >= 0 {
			d.from, _ = c.Store.Lineage(c.Ctx, l).Before(i)
		}
		return d, nil
	}
	issue, from, to, err := twoNames(c)
	if err != nil {
		return nil, err
	}
	var failed error
	d.to, failed = c.Find(issue, to)
	d.from, err = c.Find(issue, from)
	switch missing := new(*gitstore.NotFoundError); {
	case errors.As(failed, missing) && errors.As(err, missing):
		return nil, failure.Errorf(failure.None, "git checkpoint list "+view.IssueArg(issue), "issue %s: no checkpoint is named %q or %q", issue, from, to)
	case failed != nil:
		return nil, failed
	case err != nil:
		if errors.As(err, missing) && !slices.Contains(c.Line.Args, from) { // the default, which the user did not name
			err = failure.Errorf(failure.None, "git checkpoint show "+view.IssueArg(issue), "diff: issue %s has one checkpoint, and nothing to compare it with", issue)
		}
		return nil, err
	}
	return d, nil
}

// twoNames returns the issue and the names of both checkpoints. If the first of two
// arguments names an existing issue, it selects that issue.
func twoNames(c *invoke.Invocation) (issue checkpoint.Issue, from, to string, err error) {
	defer func() { c.Subject.Issue = issue }()
	const before = gitstore.Latest + "~1"
	switch args := c.Line.Args; len(args) {
	case 0:
		issue, err = c.InferIssue()
		return issue, before, gitstore.Latest, err
	case 1:
		issue, from, err = c.IssueOrName(args[0])
		if from == gitstore.Latest && args[0] != gitstore.Latest {
			from = before
		}
		return issue, from, gitstore.Latest, err
	case 2:
		if i, err := checkpoint.ParseIssue(args[0]); err == nil && c.Store.HasIssue(c.Ctx, i) {
			return i, args[1], gitstore.Latest, invoke.Agree(c, i)
		}
		issue, err = c.InferIssue()
		return issue, args[0], args[1], err
	}
	if issue, err = c.ParseIssueArg(c.Line.Args[0]); err == nil {
		err = invoke.Agree(c, issue)
	}
	return issue, c.Line.Args[1], c.Line.Args[2], err
}

func diffJSON(c *invoke.Invocation, d *difference, stat bool) error {
	out := view.CheckpointDiff{Type: "diff", To: string(d.to.ID), State: d.state}
	if d.from != nil {
		out.From = string(d.from.ID)
	}
	if d.files != nil {
		files, err := d.files.Files(c.Ctx)
		if err != nil {
			return err
		}
		total := gitstore.Totals{Files: len(files)}
		for _, f := range files {
			change := view.FileChange{Path: checkpoint.QuotePath(f.Path), Status: f.Status, From: checkpoint.QuotePath(f.From)}
			if stat && f.Counted {
				change.LinesAdded, change.LinesDeleted = new(f.Added), new(f.Deleted)
				total.Added, total.Deleted = total.Added+f.Added, total.Deleted+f.Deleted
			}
			out.Files = append(out.Files, change)
		}
		if stat {
			out.FilesChanged, out.LinesAdded, out.LinesDeleted = &total.Files, &total.Added, &total.Deleted
		}
	}
	return c.WriteJSON(out)
}

// showDifference prints the changes. If stdout is no terminal, files are printed as by
// git diff, so that git apply accepts the output.
func showDifference(c *invoke.Invocation, d *difference, stat bool, at view.Screen, people bool) error {
	now := c.Env.Now()
	for _, side := range []struct {
		word string
		cp   *gitstore.Checkpoint
	}{{"from", d.from}, {"to  ", d.to}} {
		if side.cp == nil {
			c.Printf("from HEAD at the save\n")
			continue
		}
		c.Printf("%s\n", at.Named(side.word, side.cp.Name(), side.cp.ID.Short(), view.Ago(side.cp.Created, now)))
	}
	told := view.Told(d.state, d.files != nil)
	c.Printf("\n%s %s\n", at.Paint(view.Bold, "Record:"), view.Summary(told))
	if !stat {
		c.Printf("%s", at.Record(told))
	}
	if d.files == nil {
		return c.Out.Err
	}
	return showFiles(c, d.files, stat, at, people)
}

func showFiles(c *invoke.Invocation, files *gitstore.TreeDiff, stat bool, at view.Screen, people bool) error {
	if files.Same() {
		c.Printf("\n%s nothing\n", at.Paint(view.Bold, "Files:"))
		return c.Out.Err
	}
	c.Printf("\n%s\n", at.Paint(view.Bold, "Files:"))
	for _, path := range files.Unmerged {
		c.Printf("  conflicted %s\n", view.Clean(view.QuotePath(path)))
	}
	switch {
	case stat:
		return files.Stat(c.Ctx, c.Out, cmp.Or(at.Width, 80))
	case !people:
		return files.Patch(c.Ctx, c.Out)
	}
	p := at.Patch(c.Out)
	if err := files.Patch(c.Ctx, p); err != nil {
		return err
	}
	return p.Close()
}
