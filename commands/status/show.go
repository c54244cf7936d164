package status

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
)

// showStatus prints the standing of the work in the form that the flags ask for.
func showStatus(c *invoke.Invocation, o *statusOptions, s *view.Standing) error {
	if c.Line.JSON {
		out := s.StatusRecord("status")
		out.Warnings = append(out.Warnings, c.TakeWarnings()...)
		return c.WriteJSON(out)
	}
	if o.markdown {
		c.Printf("%s", s.StatusMarkdown())
		return nil
	}
	at, people, err := c.Screen(o.color)
	if err != nil {
		return err
	}
	if people && c.Line.Common.Verbose {
		defer c.Page()()
	}
	text := s.StatusPlain(c.Line.Common.Verbose)
	if people {
		text = s.StatusScreen(at, c.Line.Common.Verbose)
	}
	c.Printf("%s", text)
	if c.Line.Common.Verbose {
		return cmp.Or(showDiffs(c, s), showCoverage(c, s.Record))
	}
	return nil
}

// showCoverage prints the changed files that the checkpoint lacks, because a user may
// expect a copy of all changed files.
func showCoverage(c *invoke.Invocation, r *checkpoint.Record) error {
	if c.Store.Root() == "" {
		return nil
	}
	changed, err := c.Store.Files.Uncommitted(c.Ctx)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, f := range r.Files() {
		have[f.Path] = true
	}
	notSaved := slices.DeleteFunc(slices.Clone(changed), func(path string) bool { return have[path] })
	c.Printf("Coverage: %d of %d changed files are in the checkpoint\n", len(changed)-len(notSaved), len(changed))
	for _, path := range notSaved {
		c.Printf("  not in it: %s\n", view.QuotePath(path))
	}
	return nil
}

// showDiffs prints issue body and file differences since the checkpoint.
func showDiffs(c *invoke.Invocation, s *view.Standing) error {
	for _, r := range s.Verdict.Reasons {
		for _, line := range r.Diff {
			c.Printf("%s\n", view.Clean(line))
		}
	}
	for _, path := range s.Verdict.Files.Changed {
		diff, err := c.Store.Files.Diff(c.Ctx, s.Checkpoint, path)
		if err != nil {
			return err
		}
		c.Printf("%s\n%s", view.QuotePath(path), view.CleanBlock(diff))
	}
	return nil
}

// statusShort prints one line for the prompt of a shell or an editor. It reads no issue
// source and computes no verdict. Without a checkpoint it prints nothing.
func statusShort(c *invoke.Invocation) error {
	for _, other := range []string{"check", "done", "description", "for-plan", "markdown", "json"} {
		if c.Line.Flags.IsSet(other) {
			return failure.Usagef("status: --short cannot be combined with --%s", other)
		}
	}
	issue, err := c.Issue()
	if err != nil && len(c.Line.Args) == 0 {
		return failure.Silent{Code: failure.None} // the branch belongs to no issue
	}
	if err != nil {
		return err
	}
	cp, r, err := c.Store.PointRecord(c.Ctx, issue)
	if errors.As(err, new(*gitstore.NoneError)) {
		return failure.Silent{Code: failure.None}
	}
	if err != nil {
		return err
	}
	p, words := r.Progress(), []string{string(issue)} // such as "42 implementing 2/5 12m"
	if phase := cmp.Or(p.Current, r.Phase()); phase != "" && !progress.Complete(r) {
		words = append(words, phase)
	}
	if p.Total > 0 {
		words = append(words, fmt.Sprintf("%d/%d", len(p.Completed)+len(p.Skipped), p.Total))
	}
	words = append(words, view.Briefly(cp.Created, c.Env.Now()))
	if !r.CanResume() {
		words = append(words, "!")
	}
	c.Printf("%s\n", view.Clean(strings.Join(words, " ")))
	return nil
}
