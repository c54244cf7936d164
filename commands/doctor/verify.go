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
	hint := ""
	err := eachReport(c, &result, t.About, func(r *gitstore.Report) {
		if hint == "" && len(r.Errors) > 0 {
			hint = invoke.RecoveryHint(c, r, false)
		}
	})
	if err != nil {
		return err
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

// eachReport verifies the named issue, or all issues, and adds the results to a sum.
func eachReport(c *invoke.Invocation, sum *view.Verify, about func(string), f func(*gitstore.Report)) error {
	if !namesIssue(c) {
		defer c.Store.CacheRefs(c.Ctx)()
	}
	issues, err := issuesToVerify(c)
	if err != nil {
		return err
	}
	c.Store.Doctor.Phases = c.Settings.Strings("phases")
	run := c.Store.Doctor.Verification()
	for _, i := range issues {
		about(c.Line.Name + ": issue " + string(i))
		report, err := run.Verify(c.Ctx, i)
		if err != nil {
			return err
		}
		sum.Errors = append(sum.Errors, report.Errors...)
		sum.Warnings = append(sum.Warnings, report.Warnings...)
		sum.Checked += report.Checked
		f(report)
	}
	return nil
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

// printFound prints problems, errors first.
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
