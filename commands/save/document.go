package save

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
)

// A source is the content of --from.
type source struct {
	as   layout.Name
	file string // path with slashes, "" for standard input
	data []byte
}

// openFor opens the repository and returns the document to save, or nil without --as. The
// document decides the trigger, unless the command line names it.
func openFor(c *invoke.Invocation, o *saveOptions, trigger checkpoint.Trigger) (*layout.File, checkpoint.Trigger, error) {
	src, err := readSource(c, o)
	if err != nil {
		return nil, "", err
	}
	if src == nil {
		return nil, trigger, work.OpenToSave(c)
	}
	var doc *layout.File
	if o.kind == "" {
		if doc, err = src.document(c, o.Strict); err != nil {
			return nil, "", err
		}
	}
	if !c.Line.Flags.IsSet("trigger") {
		trigger = checkpoint.PhaseTransition // that of a state
		if doc != nil {
			trigger = doc.Trigger()
		}
	}
	if err = work.OpenToSave(c); err == nil && doc == nil {
		doc, err = src.completed(c, o)
	}
	return doc, trigger, err
}

// readSource reads the file of --from, or returns nil if neither --as nor --from is set.
func readSource(c *invoke.Invocation, o *saveOptions) (*source, error) {
	switch {
	case o.kind == "" && o.project != "":
		return nil, failure.Usagef("save: --project goes with --type")
	case o.kind != "" && (o.as == "" || o.from == ""):
		return nil, failure.Usagef("save: --type goes with --as and --from")
	case o.as == "" && o.from == "":
		return nil, nil
	case o.as == "" || o.from == "":
		return nil, failure.Usagef("save: --as and --from go together")
	case o.from == "-" && o.State == "-":
		return nil, failure.Usagef("save: --from and --state cannot both be standard input")
	}
	as, err := layout.Parse(o.as)
	if err != nil {
		return nil, failure.Usagef("save: --as: %w", err)
	}
	if o.kind != "" && layout.Find(as).Complete == nil {
		return nil, failure.Usagef("save: --type: the documents of %s have no type", as)
	}
	data, err := c.ReadInput(o.from)
	if err != nil {
		return nil, failure.Usagef("save: --from: %w", err)
	}
	file := ""
	if o.from != "-" {
		file = filepath.ToSlash(o.from)
	}
	return &source{as, file, data}, nil
}

func (s *source) document(c *invoke.Invocation, strict bool) (*layout.File, error) {
	f, err := layout.Read(s.as, s.file, s.data)
	if unknown, ok := errors.AsType[*layout.UnknownDocumentError](err); ok && unknown.Reason == "" {
		err = cmp.Or(layout.Find(s.as).Explain(s.file, s.data), err)
	}
	if err == nil {
		err = work.Accept(c, f, strict)
	}
	return f, s.withType(s.withPath(err))
}

// withType adds the hint to name the type, if a document lacks it and may be a state.
func (s *source) withType(err error) error {
	invalid, ok := errors.AsType[*layout.InvalidError](err)
	if !ok || layout.Find(s.as).Complete == nil {
		return err
	}
	for _, p := range invalid.Problems {
		if p.Path == "workflow_type" && p.Rule == "required" {
			from := view.QuoteArg(cmp.Or(s.file, "-"))
			return failure.Errorf(failure.Invalid, fmt.Sprintf("git checkpoint save --as %s --from %s --type TYPE", s.as, from), "%w", err)
		}
	}
	return err
}

// completed parses the file as the state of a workflow, and completes it to a document. A
// workflow that is under way keeps its id and its start.
func (s *source) completed(c *invoke.Invocation, o *saveOptions) (*layout.File, error) {
	w := layout.Workflow{Type: o.kind, Project: o.project, Now: c.Env.Now()}
	f, err := layout.Find(s.as).ReadState(s.file, s.data, w)
	if err != nil {
		return nil, s.withPath(err)
	}
	issue, err := issueOf(c, f)
	if err != nil {
		return nil, err
	}
	_, w.Before, err = c.Store.PointRecord(c.Ctx, issue)
	if err != nil && !errors.As(err, new(*gitstore.NoneError)) {
		c.Warnf("the state begins a new workflow: %v", err)
	}
	if f, err = layout.Find(s.as).ReadState(s.file, s.data, w); err == nil {
		err = work.Accept(c, f, o.Strict)
	}
	return f, s.withPath(err)
}

func (s *source) withPath(err error) error {
	return work.WithPath(err, view.QuotePath(s.file))
}

// issueOf returns the issue of a save: the named issue, the issue of the document, or the
// inferred issue.
func issueOf(c *invoke.Invocation, f *layout.File) (checkpoint.Issue, error) {
	if f == nil {
		return c.Issue()
	}
	return c.IssueOr(f.Key(), "from the document", "git checkpoint save ISSUE --as "+string(f.Layout))
}

// savedBefore reports whether a document was saved before: its id is taken, and the
// checkpoint with that id was made from this document or exported to it.
func savedBefore(c *invoke.Invocation, f *layout.File, err error) (*gitstore.TakenError, bool) {
	taken, ok := errors.AsType[*gitstore.TakenError](err)
	if f == nil || !ok || taken.Dropped {
		return nil, false
	}
	cp, err := c.Store.ByID(c.Ctx, taken.Issue, taken.ID)
	if err != nil {
		return nil, false
	}
	r, err := c.Store.Record(cp)
	return taken, err == nil && layout.Has(r, f)
}
