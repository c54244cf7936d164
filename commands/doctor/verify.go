package doctor

import (
	"cmp"
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
	if !namesIssue(c) {
		defer c.Store.CacheRefs(c.Ctx)()
	}
	issues, err := issuesToVerify(c)
	if err != nil {
		return err
	}
	result := view.Verify{Type: "verify", Valid: true}
	hint := ""
	t := c.TickOf("verify", "checkpoints")
	defer t.End()
	c.Store.SetProgress(t.At)
	c.Store.Doctor.Phases = c.Settings.Strings("phases")
	run := c.Store.Doctor.Verification(true)
	for _, i := range issues {
		t.About("verify: issue " + string(i))
		report, err := run.Verify(c.Ctx, i)
		if err != nil {
			return err
		}
		if len(report.Errors) > 0 {
			hint = cmp.Or(hint, invoke.RecoveryCommand(c, i))
		}
		result.Errors = append(result.Errors, report.Errors...)
		result.Warnings = append(result.Warnings, report.Warnings...)
		result.Checked += report.Checked
	}
	t.End()
	result.Valid = len(result.Errors) == 0
	result.Warnings = append(result.Warnings, c.TakeWarnings()...)
	if c.Line.JSON {
		err = c.WriteJSON(result)
	} else {
		printFound(c, result.Errors, result.Warnings)
		c.Printf("%s checked, %s, %s\n", view.Plural(result.Checked, "checkpoint"), view.Plural(len(result.Errors), "error"), view.Plural(len(result.Warnings), "warning"))
	}
	if err != nil {
		return err
	}
	if !result.Valid {
		return failure.Errorf(failure.Invalid, hint, "verify: %s in %s", view.Plural(len(result.Errors), "error"), view.Plural(result.Checked, "checkpoint"))
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
func printFound(c *invoke.Invocation, errors, warnings []string) {
	for _, e := range errors {
		c.Printf("error: %s\n", view.Clean(e))
	}
	for _, w := range warnings {
		c.Printf("warning: %s\n", view.Clean(w))
	}
}
