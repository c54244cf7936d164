// Package interchange has the commands import and export, and the mirror that keeps the
// files of another system's layout in step with the checkpoints.
package interchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/mirror"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/retention"

	"github.com/urfave/cli/v2"
)

// ImportCommand declares git checkpoint import.
var ImportCommand = invoke.Command{
	Name: "import", Usage: "record other systems' files", Args: "PATH", Max: 1, Category: "Share",
	Description: "Reads a file, or every file below a directory, of crunch, claude, recovery,\n" +
		"dotagent or pipeline, oldest first, and records each as a checkpoint of the issue\n" +
		"that it names, or else of the branch's issue. A workflow in progress is recorded with\n" +
		"the files of the worktree, like a save. Other documents are recorded with the staged\n" +
		"files. A document that is recorded already is not recorded again. PATH is - for a\n" +
		"document on standard input. Retention is not applied: the next save or prune does that.",
	Examples: []string{
		"git checkpoint import .claude/checkpoints --dry-run",
		"git checkpoint import .pipeline --as pipeline",
		"git checkpoint import old/state.json --issue PROJ-42",
		"git checkpoint import entire-branch/ --from entire --issue PROJ-42",
	},
	New: invoke.Bind((*importOptions).flags, runImport),
}

func (o *importOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "as", Usage: "import only documents of `LAYOUT`: " + view.OneOf(layout.Names()), Destination: (*string)(&o.as)},
		&cli.StringFlag{Name: "from", Usage: "import the checkpoints of another `TOOL`: entire", Destination: (*string)(&o.from)},
		&cli.BoolFlag{Name: "relativize", Usage: "make paths below the worktree's root relative to it", Destination: &o.relativize},
		&cli.BoolFlag{Name: "dry-run", Usage: "run without writing anything", Destination: &o.dryRun},
		&cli.BoolFlag{Name: "strict", Usage: "also refuse documents with warnings", Destination: &o.strict},
	}
}

// importOptions holds the argument and the flags of import.
type importOptions struct {
	path       string      // file or directory, "-" for standard input
	as         layout.Name // only documents of a layout or tool, "" for any layout
	from       layout.Name // tool of --from, or ""
	relativize bool        // rewrite paths below the root of the worktree
	dryRun     bool
	strict     bool // reject documents that only look wrong
}

// source returns the layout of --as or the tool of --from, or "" if neither is set.
func (o *importOptions) source(c *invoke.Invocation) (layout.Name, error) {
	switch {
	case o.from == "":
		return o.as, c.CheckLayout(o.as)
	case o.as != "":
		return "", failure.Usagef("import: --as and --from cannot be combined")
	case !slices.Contains(layout.Sources(), o.from):
		return "", failure.Usagef("import: --from %.40q: want %s", o.from, view.List(view.Strings(layout.Sources())))
	}
	return o.from, nil
}

func runImport(c *invoke.Invocation, o *importOptions) (err error) {
	if len(c.Line.Args) == 0 {
		return failure.Usagef("import: no file or directory given")
	}
	o.path = c.Line.Args[0]
	if o.as, err = o.source(c); err != nil {
		return err
	}
	c.Needs.WillSave = true
	if err := c.Open(); err != nil {
		return err
	}
	in := &importing{c: c, importOptions: *o}
	docs, err := in.gather(o.path)
	if err != nil {
		return err
	}
	t := c.TickOf("import", "files")
	defer t.End()
	err = c.Store.Operate(c.Ctx, "import", "", func() (err error) {
		for k := 0; k < len(docs) && err == nil; err = c.Ctx.Err() {
			k += in.recordSome(docs[k:], func(n int) { t.At(k+n, len(docs)) })
		}
		return err
	})
	t.End()
	if err != nil && len(in.imported) == 0 {
		return err
	}
	return cmp.Or(in.show(), err, in.outcome())
}

// An importing holds the results of one import.
type importing struct {
	c *invoke.Invocation
	importOptions
	imported []imported
	skipped  []view.Skipped
	failed   []error // errors of the skipped files that should have been imported
	there    int     // number of documents that were recorded before

	recorded map[checkpoint.Issue]map[string]checkpoint.ID // checkpoints by the digest of their document
	mirror   *mirror.State                                 // files of the mirror, or nil before the first document
}

type imported struct {
	id    checkpoint.ID
	issue checkpoint.Issue
	document
	saved *gitstore.Saved
}

func (in *importing) skip(path, reason string) {
	in.skipped = append(in.skipped, view.Skipped{Path: view.QuotePath(path), Reason: reason})
}

// fail records the error of a file that should have been imported, with the path of the file,
// and skips the file.
func (in *importing) fail(path string, err error) {
	in.skip(path, err.Error())
	path = view.QuotePath(path)
	if err = work.WithPath(err, path); !strings.Contains(err.Error(), path) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	in.failed = append(in.failed, err)
}

// A round of documents is recorded by one transaction. The locks of its issues are held meanwhile, so
// the time of a round is limited.
const (
	maxRound  = 1_000
	roundTime = 5 * time.Second
)

// recordSome saves the first documents as checkpoints, and returns their number. progress receives
// the number of documents before the next one.
func (in *importing) recordSome(docs []document, progress func(n int)) (n int) {
	docs = docs[:min(len(docs), maxRound)]
	before := *in
	before.recorded = nil
	one := func(d document) {
		progress(n)
		in.record(d)
		n++
	}
	var issues []checkpoint.Issue
	for _, d := range docs {
		if i, err := in.issueOf(d); err == nil && !slices.Contains(issues, i) {
			in.known(i) // is read before the locks are taken
			issues = append(issues, i)
		}
	}
	if !in.dryRun && len(issues) > 0 {
		start := time.Now()
		message := "save: import of " + view.Plural(len(docs), "document")
		err := in.c.Store.Together(in.c.Ctx, message, issues, func() {
			for _, d := range docs {
				if n > 0 && (in.c.Ctx.Err() != nil || time.Since(start) > roundTime) {
					return
				}
				one(d)
			}
		})
		if isDone := errors.As(err, new(*gitstore.DoneError)); err == nil || isDone {
			if isDone {
				in.failed = append(in.failed, err)
			}
			in.warnSince(len(before.imported))
			return n
		}
		*in, n = before, 0 // a round that fails may have taken seconds, so its list is not used
	}
	for _, d := range docs {
		if n > 0 && in.c.Ctx.Err() != nil {
			break
		}
		one(d)
	}
	in.warnSince(len(before.imported))
	return n
}

// record saves a document as a checkpoint.
func (in *importing) record(d document) {
	if owner := in.mirrored(d); owner != "" {
		in.there++
		in.skip(d.path, "the mirror's own file of issue "+owner)
		return
	}
	issue, err := in.issueOf(d)
	if err != nil {
		in.fail(d.path, err)
		return
	}
	id := d.file.ID()
	if why := in.isThere(issue, id, d.file); why != "" {
		in.there++
		in.skip(d.path, why)
		return
	}
	saved, err := in.save(d, issue, id)
	if taken, ok := errors.AsType[*gitstore.TakenError](err); ok && !taken.Dropped && !d.file.Whole() {
		saved, err = in.save(d, issue, "") // a workflow file is overwritten with each new state
	}
	if err != nil {
		in.fail(d.path, err)
		return
	}
	if d.failed() && !in.dryRun {
		if _, err := in.c.Store.Archive(in.c.Ctx, issue, []checkpoint.ID{saved.ID}, retention.ReasonFailed); err != nil {
			in.fail(d.path, fmt.Errorf("archive %s: %w", saved.ID, err))
			return
		}
	}
	in.imported = append(in.imported, imported{saved.ID, issue, d, saved})
	in.known(issue)[d.file.Digest()] = saved.ID
}

// warnSince prints the warnings about the documents that were imported from the n-th on.
func (in *importing) warnSince(n int) {
	for _, i := range in.imported[n:] {
		places := 0
		for _, p := range i.document.file.Problems {
			in.c.Warnf("%s: %s", view.QuotePath(i.document.path), p)
			if p.Rule == "place" {
				places++
			}
		}
		if places > 0 {
			in.c.Warnf("%s: %s of a single machine; --relativize makes paths below the root relative", view.QuotePath(i.document.path), view.Plural(places, "path"))
		}
		work.WarnLeftOut(in.c, i.saved)
	}
}

// known returns the checkpoints of an issue that were made from documents, by the digest
// of the document.
func (in *importing) known(issue checkpoint.Issue) map[string]checkpoint.ID {
	if found, ok := in.recorded[issue]; ok {
		return found
	}
	if in.recorded == nil {
		in.recorded = map[checkpoint.Issue]map[string]checkpoint.ID{}
	}
	found := map[string]checkpoint.ID{}
	in.recorded[issue] = found
	for _, read := range []func(context.Context, checkpoint.Issue, int) (*gitstore.List, error){in.c.Store.Archived, in.c.Store.List} {
		l, err := read(in.c.Ctx, issue, 0)
		if err != nil {
			continue
		}
		for i := range l.Checkpoints {
			if r, err := in.c.Store.Record(&l.Checkpoints[i]); err == nil {
				for _, d := range layout.Digests(r) {
					found[d] = l.Checkpoints[i].ID
				}
			}
		}
	}
	return found
}

// issueOf returns the issue of a document: the --issue flag, the key in the document, the
// key of a related file, GIT_CHECKPOINT_ISSUE, or the branch, in this order.
func (in *importing) issueOf(d document) (checkpoint.Issue, error) {
	hint := "git checkpoint import " + view.QuoteArg(in.path) + " --issue ISSUE"
	key := cmp.Or(in.c.Line.Common.Issue, d.file.Key(), d.key)
	if key == "" {
		if _, err := in.c.NamedIssue(); errors.Is(err, invoke.ErrUnnamed) {
			return "", failure.Errorf(failure.Usage, hint, "the document names no issue, and HEAD is detached")
		}
		return in.c.InferIssue()
	}
	i, err := checkpoint.ParseIssue(key)
	if err != nil {
		return "", failure.Errorf(failure.Usage, hint, "%w", err)
	}
	return i, nil
}

// isThere returns a message if a document is recorded already, or "". It compares the
// digest first, then the checkpoint with the document's id. A document without an id is
// compared with the newest checkpoint, which most exports contain.
func (in *importing) isThere(issue checkpoint.Issue, id checkpoint.ID, f *layout.File) string {
	as, known := in.known(issue)[f.Digest()]
	if !known {
		find := func() (*gitstore.Checkpoint, error) { return in.c.Store.ByID(in.c.Ctx, issue, id) }
		if id == "" {
			find = func() (*gitstore.Checkpoint, error) { return in.c.Store.Newest(in.c.Ctx, issue) }
		}
		cp, err := find()
		if err != nil {
			return ""
		}
		r, err := in.c.Store.Record(cp)
		as, known = cp.ID, err == nil && layout.Has(r, f)
	}
	if !known {
		return ""
	}
	return fmt.Sprintf("already recorded as %s", as)
}

// save records the document under the given id, or under a new id if that is "".
func (in *importing) save(d document, issue checkpoint.Issue, id checkpoint.ID) (*gitstore.Saved, error) {
	req := gitstore.SaveRequest{
		Issue: issue, Branch: in.c.DetachedBranch(), Keep: true, DryRun: in.dryRun,
		Edit: func(before *checkpoint.Record) (*checkpoint.Record, error) {
			r := d.applyTo(before, id)
			work.CountPlan(in.c.Store.Root(), r)
			return r, nil
		},
	}
	work.ChooseFiles(in.c, &req, !d.inProgress())
	return in.c.Store.Save(in.c.Ctx, req)
}

// show prints the imported and the skipped files.
func (in *importing) show() error {
	if in.c.Line.JSON {
		r := view.Import{Type: "import", DryRun: in.dryRun, Layout: string(in.as), Imported: []string{}, Skipped: in.skipped}
		for k, i := range in.imported {
			if !in.dryRun {
				r.Imported = append(r.Imported, string(i.id))
			}
			if k == 0 && in.as == "" {
				r.Layout = string(i.file.Layout)
			} else if r.Layout != string(i.file.Layout) {
				r.Layout = ""
			}
		}
		r.Warnings = in.c.TakeWarnings()
		return in.c.WriteJSON(r)
	}
	for _, i := range in.imported {
		if in.dryRun {
			in.c.Printf("%s\t%s\n", view.Clean(string(i.issue)), view.QuotePath(i.path))
			continue
		}
		in.c.Printf("%s\t%s\t%s\n", i.id, view.Clean(string(i.issue)), view.QuotePath(i.path))
	}
	for _, s := range in.skipped {
		in.c.Infof("skipped: %s: %s", s.Path, s.Reason)
	}
	return nil
}

// outcome returns an error if importable documents failed.
func (in *importing) outcome() error {
	done := len(in.imported) + in.there
	texts, hint := make([]string, len(in.failed)), ""
	for i, err := range in.failed {
		texts[i] = err.Error()
		// The hint is that of the first usage error: the other errors are those of single files.
		if e, ok := failure.Of(err); ok && hint == "" {
			if code, next := e.Exit(); code == failure.Usage {
				hint = next
			}
		}
	}
	switch {
	case len(in.failed) == 0 && done > 0:
		return nil
	case len(in.failed) == 0:
		return failure.Errorf(failure.None, "", "import: %s: no checkpoint of another system", view.QuotePath(in.path))
	case done == 0 && len(in.failed) == 1:
		return fmt.Errorf("import: %w", in.failed[0])
	case done == 0:
		return failure.Errorf(failure.Invalid, "git checkpoint help import", "import: none of %s could be imported:\n%s", view.Plural(len(in.failed), "document"), strings.Join(texts, "\n"))
	}
	return failure.Errorf(failure.Partial, hint, "import: %d of %s failed:\n%s", len(in.failed), view.Plural(len(in.failed)+done, "document"), strings.Join(texts, "\n"))
}
