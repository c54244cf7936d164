package save

import (
	"cmp"
	"errors"
	"path/filepath"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/layoutfiles"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

// documentFlags returns the flags that select a document of another system.
func documentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "as", Usage: "record another system's document by the rules of its `LAYOUT`: crunch, claude, recovery, dotagent or pipeline"},
		&cli.StringFlag{Name: "from", Usage: "the document's `FILE`, - for standard input"},
	}
}

// readDocument reads the document of --as and --from, or returns nil if they are not set.
func readDocument(c *invoke.Invocation) (*layout.File, error) {
	as, from := c.Flags.String("as"), c.Flags.String("from")
	switch {
	case !c.Flags.IsSet("as") && !c.Flags.IsSet("from"):
		return nil, nil
	case as == "" || from == "":
		return nil, exit.Usagef("save: --as and --from go together")
	case from == "-" && c.Flags.String("state") == "-":
		return nil, exit.Usagef("save: --from and --state cannot both be standard input")
	}
	name, err := layout.Parse(as)
	if err != nil {
		return nil, exit.Usagef("save: --as: %w", err)
	}
	data, err := c.ReadInput(from)
	if err != nil {
		return nil, exit.Usagef("save: --from: %w", err)
	}
	file := ""
	if from != "-" {
		file = filepath.ToSlash(from)
	}
	f, err := layout.Read(name, file, data)
	var unknown *layout.UnknownDocumentError
	if errors.As(err, &unknown) && unknown.Reason == "" {
		return nil, cmp.Or(layout.Explain(name, file, data), err)
	}
	if err != nil {
		return nil, err
	}
	return f, layoutfiles.Accept(c, f, c.Flags.Bool("strict"))
}

// issueOf returns the issue of a save: the named issue, the issue of the document, or the
// inferred issue.
func issueOf(c *invoke.Invocation, f *layout.File) (checkpoint.Issue, error) {
	if f == nil || len(c.Args) > 0 || c.Common.Issue != "" || f.Key() == "" {
		return c.Issue()
	}
	i, err := checkpoint.ParseIssue(f.Key())
	if err != nil {
		return "", exit.Errorf(exit.Usage, "git checkpoint save ISSUE --as "+string(f.Layout), "save: the document names no issue: %w", err)
	}
	c.IssueInQuestion = i
	return i, nil
}

// savedBefore reports whether a document was saved before: its id is taken, and the
// checkpoint with that id was made from this document.
func savedBefore(c *invoke.Invocation, f *layout.File, err error) (*gitstore.TakenError, bool) {
	var taken *gitstore.TakenError
	if f == nil || !errors.As(err, &taken) || taken.Dropped {
		return nil, false
	}
	cp, err := c.Store.ByID(c.Ctx, taken.Issue, taken.ID)
	if err != nil {
		return nil, false
	}
	r, err := c.Store.Record(cp)
	return taken, err == nil && f.In(r)
}
