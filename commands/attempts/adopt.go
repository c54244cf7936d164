package attempts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/retention"

	"github.com/urfave/cli/v2"
)

// AdoptCommand declares git checkpoint adopt.
var AdoptCommand = invoke.Command{
	Name: "adopt", Usage: "merge an attempt into the work that it started from", Args: "FORK", Max: 1, Category: "Attempts",
	ShortHelp: []string{"dry-run"},
	Description: "Merges the changes of the fork since its source into the worktree, with the source as the\n" +
		"base, also changes that the fork has committed. It saves a checkpoint of the issue from which\n" +
		"the fork started, adds the tokens of the fork to its sum, and archives all forks of that issue.\n" +
		"After a conflict it saves and archives nothing. `git checkpoint undo` reverts all of it.",
	Examples:  []string{"git checkpoint adopt 43+a --dry-run", "git checkpoint adopt 43+a"},
	ReadsOnly: true, ChangesFiles: true,
	New: invoke.Bind((*adoptOptions).flags, runAdopt),
}

type adoptOptions struct{ dryRun, yes bool }

func (o *adoptOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "print the actions without doing them", Destination: &o.dryRun},
		&cli.BoolFlag{Name: "yes", Usage: "adopt also if HEAD is on another branch than that of the source", Destination: &o.yes},
	}
}

type adoption struct {
	fork   *gitstore.Checkpoint
	source *gitstore.Checkpoint
	spent  []checkpoint.Spent // tokens of the fork
	before []checkpoint.Spent // tokens of the fork that the source has already
	others []checkpoint.Issue // other forks of the source
	dryRun bool
	done   *gitstore.Restored
	saved  *gitstore.Saved    // nil if nothing was saved
	left   []checkpoint.Issue // archived forks
}

func runAdopt(c *invoke.Invocation, o *adoptOptions) error {
	if err := work.OpenToSave(c); err != nil {
		return err
	}
	a, err := toAdopt(c)
	if err != nil {
		return err
	}
	a.dryRun = o.dryRun
	if a.dryRun {
		return adopt(c, o, a)
	}
	start := gitstore.OperationStart{Command: "adopt", Issue: a.source.Issue}
	return c.Store.Restorer.Operate(c.Ctx, start, func() error { return adopt(c, o, a) })
}

func adopt(c *invoke.Invocation, o *adoptOptions, a *adoption) (err error) {
	t := c.TickFiles("adopt: writing files")
	a.done, err = c.Store.Restore(c.Ctx, gitstore.RestoreRequest{
		Checkpoint: a.fork, Since: a.source, AnyBranch: o.yes, Branch: c.DetachedBranch(),
		Request: gitstore.RestoreOptions{Asked: true, Changed: gitstore.MergeBoth, DryRun: a.dryRun},
	})
	t.End()
	if err != nil {
		var refused *gitstore.RefusedError
		if !errors.As(err, &refused) || refused.Flag != "--yes" {
			return err
		}
		return failure.Errorf(failure.Refused, refused.Hint+"\ngit checkpoint adopt "+view.IssueArg(a.fork.Issue)+" --yes", "%w", err)
	}
	if n := len(a.done.Merged) + len(a.done.Skipped) + len(a.done.InTheWay) + len(a.done.Sparse); n > 0 {
		if err := a.show(c); err != nil || a.dryRun {
			return err
		}
		hint := "git diff\ngit checkpoint save " + view.IssueArg(a.source.Issue) + " -m " + view.QuoteArg(a.note())
		for _, i := range a.forks() {
			hint += "\ngit checkpoint archive " + view.IssueArg(i)
		}
		return failure.Errorf(failure.Failure, hint, "adopt %s: %s to resolve; nothing is saved or archived", a.fork.Issue, view.Plural(n, "file"))
	}
	if !a.dryRun {
		err = a.record(c)
	}
	showErr := a.show(c)
	return cmp.Or(err, showErr)
}

// toAdopt returns the fork of the command line, its source and the other forks.
func toAdopt(c *invoke.Invocation) (*adoption, error) {
	if len(c.Line.Args) == 0 {
		return nil, failure.Errorf(failure.Usage, "git checkpoint compare", "adopt: no fork given")
	}
	issue, err := c.ParseIssueArg(c.Line.Args[0])
	if err != nil {
		return nil, err
	}
	p, r, err := c.Store.PointRecord(c.Ctx, issue)
	if err != nil {
		return nil, err
	}
	a, f := &adoption{fork: p.Checkpoint, spent: r.AgentTurn().Spent}, r.Fork()
	if f.Issue == "" {
		return nil, failure.Errorf(failure.Invalid, "git checkpoint list "+view.IssueArg(issue), "adopt: issue %s is not a fork", issue)
	}
	if on, why := c.Settings.TriggerEnabled(checkpoint.Manual); !on {
		return nil, failure.Errorf(failure.Refused, work.Enable(c), "adopt: %s", why)
	}
	if a.source, err = c.Store.ForkSource(c.Ctx, issue, f); err != nil {
		return nil, failure.Errorf(failure.Refused, "git checkpoint sync "+view.IssueArg(f.Issue)+" --archived", "adopt: the source of %s is gone: %w", issue, err)
	}
	// A second merge would put markers into markers.
	unmerged, err := c.Store.Git().Output(c.Ctx, "ls-files", "--unmerged", "-z", "--", ":/")
	if err != nil {
		return nil, fmt.Errorf("adopt: %w", err)
	}
	if len(unmerged) > 0 {
		return nil, failure.Errorf(failure.Refused, "git status", "adopt: files have conflicts that are not resolved; git add marks them as resolved")
	}
	a.before = countedTokens(c, a)
	forks, err := forksOf(c, f.Issue)
	a.others = slices.DeleteFunc(forks, func(i checkpoint.Issue) bool { return i == issue })
	c.Subject.Issue = f.Issue
	return a, err
}

// record saves the checkpoint and archives the forks, in one transaction if possible.
func (a *adoption) record(c *invoke.Invocation) error {
	both := func() (err error) {
		if err = a.save(c); err == nil {
			err = a.archive(c)
		}
		return err
	}
	var failed error
	err := c.Store.Together(c.Ctx, "adopt: "+string(a.fork.ID), append(a.forks(), a.source.Issue), func() { failed = both() })
	if err != nil && !errors.As(err, new(*gitstore.DoneError)) {
		a.saved, a.left = nil, nil
		return both()
	}
	return cmp.Or(failed, err)
}

// countedTokens returns the tokens of the fork that the record of the source issue has: those of its
// last adoption, otherwise those before the fork. If the last adopted checkpoint was dropped, all
// count as known.
func countedTokens(c *invoke.Invocation, a *adoption) []checkpoint.Spent {
	at := a.source
	if _, r, err := c.Store.PointRecord(c.Ctx, a.source.Issue); err == nil && r.Adopted(a.fork.Issue) != "" {
		if at, err = c.Store.Find(c.Ctx, a.fork.Issue, string(r.Adopted(a.fork.Issue))); err != nil {
			return a.spent
		}
	}
	r, err := c.Store.Record(at)
	if err != nil {
		return a.spent
	}
	return r.AgentTurn().Spent
}

// forks returns the forks of the source, the adopted one at last.
func (a *adoption) forks() []checkpoint.Issue { return append(slices.Clone(a.others), a.fork.Issue) }

func (a *adoption) note() string { return "adopted " + string(a.fork.Issue) }

func (a *adoption) save(c *invoke.Invocation) error {
	o := &work.SaveOptions{Message: a.note(), Issue: work.IssueOptions{Offline: true}}
	if len(a.others) > 0 {
		o.Message += "\n\ncompared with " + view.List(view.Strings(a.others))
	}
	req, err := work.SaveRequest(c, a.source.Issue, checkpoint.Manual, o, work.SaveInput{})
	if err != nil {
		return err
	}
	req.Command = "adopt:"
	edit := req.Edit
	req.Edit = func(before *checkpoint.Record) (*checkpoint.Record, error) {
		r, err := edit(before)
		if err == nil {
			r.AddTokensOf(a.fork.Issue, a.fork.ID, a.before, a.spent)
		}
		return r, err
	}
	a.saved, err = c.Store.Save(c.Ctx, req)
	if err != nil {
		return failure.Errorf(failure.Failure, "git checkpoint save "+view.IssueArg(a.source.Issue)+" -m "+view.QuoteArg(a.note()), "the files of %s are merged, but: %w", a.fork.Issue, err)
	}
	for _, w := range work.SaveWarnings(c, a.saved) {
		c.Warnf("%s", w)
	}
	return nil
}

// archive archives the forks, the adopted one at last.
func (a *adoption) archive(c *invoke.Invocation) error {
	for _, i := range a.forks() {
		reason := retention.ReasonCompared
		if i == a.fork.Issue {
			reason = retention.ReasonAdopted
		}
		_, err := c.Store.Archive(c.Ctx, i, nil, reason)
		if err != nil && !errors.As(err, new(*gitstore.NoneError)) {
			return failure.Errorf(failure.Failure, "git checkpoint archive "+view.IssueArg(i), "%s is saved, but %s is not archived: %w", a.saved.ID, i, err)
		}
		a.left = append(a.left, i)
	}
	return nil
}

func (a *adoption) show(c *invoke.Invocation) error {
	if a.dryRun && len(a.done.Merged)+len(a.done.Skipped)+len(a.done.InTheWay) == 0 {
		a.left = a.forks()
	}
	if c.Line.JSON {
		d := a.done
		r := view.Adopt{
			Type: "adopt", DryRun: a.dryRun, Issue: string(a.source.Issue), Fork: string(a.fork.Issue), Undo: d.Undo,
			Restored: view.QuotePaths(d.Restored), Removed: view.QuotePaths(d.Removed), Skipped: view.QuotePaths(d.Skipped),
			InTheWay: view.QuotePaths(d.InTheWay), Conflicts: view.QuotePaths(d.Merged), Archived: view.Strings(a.left),
		}
		if a.saved != nil {
			r.CheckpointID = string(a.saved.ID)
		}
		return c.WriteJSON(r)
	}
	verbs := [3]string{"restored", "removed", "archived"}
	if a.dryRun {
		verbs = [3]string{"would restore", "would remove", "would archive"}
	}
	removed := view.Set(a.done.Removed)
	for _, p := range a.done.Restored {
		verb := verbs[0]
		if removed[p] {
			verb = verbs[1]
		}
		c.Printf("%s %s\n", verb, view.QuotePath(p))
	}
	for _, left := range []struct {
		what  string
		paths []string
	}{
		{"changed on both sides, left as it is", a.done.Skipped},
		{"in the way, left as it is", a.done.InTheWay},
		{"outside the sparse checkout, not written", a.done.Sparse},
		{"conflicts to resolve", a.done.Merged},
	} {
		for _, p := range left.paths {
			c.Printf("%s: %s\n", left.what, view.QuotePath(p))
		}
	}
	for _, i := range a.left {
		why := "compared with " + string(a.fork.Issue)
		if i == a.fork.Issue {
			why = "adopted into " + string(a.source.Issue)
		}
		c.Printf("%s %s: %s\n", verbs[2], view.Clean(string(i)), view.Clean(why))
	}
	if a.saved != nil {
		c.Printf("%s\n", a.saved.ID)
	}
	if a.done.Undo != "" {
		c.Infof("hint: git checkpoint undo %s", view.IssueArg(a.source.Issue))
	}
	return nil
}
