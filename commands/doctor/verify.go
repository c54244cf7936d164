package doctor

import (
	"fmt"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// VerifyCommand declares git checkpoint verify.
var VerifyCommand = invoke.Command{
	Name: "verify", Usage: "check the integrity of stored checkpoints", Args: "[ISSUE]", Max: 1, Category: "Keep",
	Description: "Reads everything that an issue has stored, live and archived; without ISSUE, of\nevery issue.",
	Examples:    []string{"git checkpoint verify", "git checkpoint verify 42 --json"},
	ReadsOnly:   true,
	Run:         runVerify,
}

func runVerify(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	result := view.Verify{Type: "verify"}
	t := c.TickOf("verify", "checkpoints")
	defer t.End()
	c.Store.SetProgress(t.At)
	reports, err := verifyAll(c, t.About)
	if err != nil {
		return err
	}
	hint := ""
	for _, r := range reports {
		addReport(&result, r)
		if hint == "" && len(r.Errors) > 0 {
			hint = invoke.RecoveryHint(c, r, false)
		}
	}
	t.End()
	result.Valid = len(result.Errors) == 0
	result.Warnings = append(result.Warnings, c.TakeWarnings()...)
	if c.Line.JSON {
		err = c.WriteJSON(result)
	} else {
		printFound(c, result)
		c.Printf("%s\n", summaryOf(result))
	}
	if err == nil && !result.Valid {
		err = failure.Errorf(failure.Invalid, hint, "verify: %s in %s", view.Plural(len(result.Errors), "error"), view.Plural(result.Checked, "checkpoint"))
	}
	return err
}

func verifyAll(c *invoke.Invocation, about func(string)) (reports []*gitstore.Report, err error) {
	if !namesIssue(c) {
		defer c.Store.CacheRefs(c.Ctx)()
	}
	issues, err := issuesToVerify(c)
	if err != nil {
		return nil, err
	}
	c.Store.Doctor.Phases = c.Settings.Strings("phases")
	run := c.Store.Doctor.Verification()
	for _, i := range issues {
		about(c.Line.Name + ": issue " + string(i))
		report, err := run.Verify(c.Ctx, i)
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

// addReport adds a report to a sum, without errors that the sum has already: doctor finds a broken ref
// around the chains and in them.
func addReport(sum *view.Verify, r *gitstore.Report) {
	for _, text := range r.Errors {
		if !slices.Contains(sum.Errors, text) {
			sum.Errors = append(sum.Errors, text)
		}
	}
	sum.Warnings = append(sum.Warnings, r.Warnings...)
	sum.Checked += r.Checked
}

func namesIssue(c *invoke.Invocation) bool { return len(c.Line.Args) > 0 || c.Line.Common.Issue != "" }

// issuesToVerify returns the named issue, or all live and archived issues.
func issuesToVerify(c *invoke.Invocation) ([]checkpoint.Issue, error) {
	if namesIssue(c) {
		issue, err := c.Issue()
		if err == nil && !c.Store.HasIssue(c.Ctx, issue) {
			err = &gitstore.NoneError{Issue: issue}
		}
		return []checkpoint.Issue{issue}, err
	}
	live, _, err := c.Store.Issues(c.Ctx, false)
	if err != nil {
		return nil, err
	}
	archived, _, err := c.Store.Issues(c.Ctx, true)
	if err != nil {
		return nil, err
	}
	all := append(live, archived...)
	slices.Sort(all)
	return slices.Compact(all), nil
}

func printFound(c *invoke.Invocation, v view.Verify) {
	for _, e := range v.Errors {
		c.Printf("error: %s\n", view.Clean(e))
	}
	for _, w := range v.Warnings {
		c.Printf("warning: %s\n", view.Clean(w))
	}
}

func summaryOf(v view.Verify) string {
	return fmt.Sprintf("%s checked, %s, %s", view.Plural(v.Checked, "checkpoint"), view.Plural(len(v.Errors), "error"), view.Plural(len(v.Warnings), "warning"))
}
