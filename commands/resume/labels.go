package resume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/freshness/issue"
	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore/failure"
)

// A labelSync is the planned change of --sync-issue.
type labelSync struct {
	place  string // forge or issue file
	isFile bool
	noCase bool // labels that differ only in case are equal
	write  func() (forge.LabelChange, error)
	change forge.LabelChange
	why    string // reason if the change is unknown
}

// planSync compares the labels of the checkpoint with those of the issue. It returns nil
// without --sync-issue, and an error if labels cannot be written at all.
func planSync(c *invoke.Invocation, r *resumption) (*labelSync, error) {
	if !r.options.syncIssue {
		return nil, nil
	}
	plan := &labelSync{}
	if err := plan.choosePlace(c, r); err != nil {
		return nil, err
	}
	if v, _ := r.Record.Doc().Lookup("issue_snapshot.labels"); v == nil {
		return nil, failure.Usagef("resume: --sync-issue: %s has no labels of the issue", r.Checkpoint.ID)
	}
	if r.source.Issue == nil {
		plan.why = "it is not known which labels issue " + string(r.Checkpoint.Issue) + " has"
		return plan, nil
	}
	same := func(a, b string) bool { return a == b }
	if plan.noCase {
		same = strings.EqualFold
	}
	plan.change = syncChange(r.Record.IssueSnapshot().Labels, r.source.Issue.Labels, work.VerdictRules(c, r.options.judge), same)
	return plan, nil
}

// choosePlace sets the place of the labels: the issue file, or the forge.
func (p *labelSync) choosePlace(c *invoke.Invocation, r *resumption) error {
	file := r.options.judge.Issue.File
	s, err := work.ChooseIssueSource(c, r.Checkpoint.Issue)
	switch {
	case file != "":
	case err != nil:
		return failure.Usagef("resume: --sync-issue: %w", err)
	case s.Kind == "forge":
		p.place, p.noCase = s.Forge.Site.Host(), s.Forge.Site.Kind == forge.GitHub
		p.write = func() (forge.LabelChange, error) {
			return work.Within(c, func(ctx context.Context) (forge.LabelChange, error) {
				return s.Forge.SetLabels(ctx, r.Checkpoint.Issue, p.change)
			})
		}
		return nil
	case s.Kind == "file" && r.source.Issue != nil:
		file = filepath.Join(c.Store.Root(), filepath.FromSlash(r.source.Issue.Source))
	case s.Kind == "file":
		return failure.Usagef("resume: --sync-issue: %s", r.source.Why)
	default:
		return failure.Errorf(failure.Usage, "git config checkpoint.issue-source file",
			"resume: --sync-issue: labels are written to an issue file, GitHub, GitLab and Gitea, and the issue comes from elsewhere")
	}
	p.place, p.isFile = view.QuotePath(r.source.Issue.Source), true
	p.write = func() (forge.LabelChange, error) { return changeFile(c, file, p.change) }
	return nil
}

// changeFile changes the labels in an issue file, and stores a copy of the file before. The
// file may have changed since the change was planned, by the restore too.
func changeFile(c *invoke.Invocation, name string, change forge.LabelChange) (done forge.LabelChange, err error) {
	if err := change.Check(); err != nil {
		return done, err
	}
	f, err := atomicfile.Read(name)
	if err != nil {
		return done, err
	}
	if !f.Exists() {
		return done, fmt.Errorf("%s: %w", view.QuotePath(name), fs.ErrNotExist)
	}
	text, added, removed, err := issue.ChangeLabels([]byte(f.Text), change.Add, change.Remove)
	if err != nil || text == f.Text {
		return done, err
	}
	if _, err := work.KeepFormer(c, f); err != nil {
		return done, err
	}
	return forge.LabelChange{Add: added, Remove: removed}, f.Write(text)
}

// syncChange returns the change that restores labels. All missing labels are added. Of
// the new labels, only state labels are removed; labels that people added stay. The change
// never removes a label that is the same as an added one.
func syncChange(was, now []string, rules freshness.Rules, same func(a, b string) bool) forge.LabelChange {
	has := func(labels []string, label string) bool {
		return slices.ContainsFunc(labels, func(other string) bool { return same(other, label) })
	}
	var change forge.LabelChange
	for _, label := range was {
		if !has(now, label) && !has(change.Add, label) {
			change.Add = append(change.Add, label)
		}
	}
	for _, label := range rules.StateLabels(now) {
		if !has(was, label) {
			change.Remove = append(change.Remove, label)
		}
	}
	return change
}

// syncLabels prints the change and writes it. At a terminal it asks for confirmation first.
func syncLabels(c *invoke.Invocation, r *resumption, plan *labelSync) error {
	switch {
	case plan == nil:
		return nil
	case plan.why != "":
		return failure.Errorf(failure.Remote, r.command("--sync-issue"), "resume: --sync-issue: %s", plan.why)
	case plan.change.IsZero():
		c.Infof("the labels of issue %s are as the checkpoint has them", r.Checkpoint.Issue)
		return nil
	}
	if !c.Line.JSON { // also with --quiet, because every write is shown
		fmt.Fprintf(c.Env.Stderr, "labels of issue %s on %s: %s\n", view.Clean(string(r.Checkpoint.Issue)), plan.place, changeText(plan.change))
	}
	if r.options.dryRun {
		r.synced = plan.change
		return nil
	}
	if yes, err := maySync(c, r, plan.change); !yes {
		return err
	}
	var err error
	r.synced, err = plan.write()
	switch {
	case errors.Is(err, issue.ErrLabelsForm):
		return failure.Errorf(failure.Refused, "edit "+plan.place+" by hand", "resume: --sync-issue: %s: %w", plan.place, err)
	case err != nil && plan.isFile:
		return fmt.Errorf("resume: --sync-issue: %s: %w", plan.place, err)
	case err != nil:
		return failure.Errorf(failure.Remote, r.command("--sync-issue"), "resume: --sync-issue: %w", err)
	}
	c.Infof("written to %s", plan.place)
	if others := view.Without(r.synced.Remove, plan.change.Remove); len(others) > 0 {
		c.Warnf("%s removed other exclusive labels too: %s", plan.place, view.List(others))
	}
	return nil
}

// maySync asks for confirmation in the same cases as resume.
func maySync(c *invoke.Invocation, r *resumption, change forge.LabelChange) (bool, error) {
	if o := r.options; o.yes || o.auto || o.force || c.Line.Flags.IsSet("choice") || c.Line.JSON {
		return true, nil
	}
	d, err := c.Dialog("")
	if err != nil {
		return true, nil // without a terminal, the flag is the confirmation
	}
	defer d.Close()
	question := "Write these labels to the issue? [y/N] "
	if c.Line.Common.Quiet {
		question = changeText(change) + "\n" + question
	}
	answer, err := d.Ask(question, invoke.YesNo)
	if err != nil {
		return false, unanswered(r, "--sync-issue --yes", err)
	}
	return answer == "y", nil
}

func changeText(change forge.LabelChange) string {
	var parts []string
	if len(change.Add) > 0 {
		parts = append(parts, "add "+view.Clean(view.List(change.Add)))
	}
	if len(change.Remove) > 0 {
		parts = append(parts, "remove "+view.Clean(view.List(change.Remove)))
	}
	return strings.Join(parts, "; ")
}
