package commands

import (
	"cmp"
	"slices"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

var verifyCommand = command{
	name: "verify", usage: "check the integrity of stored checkpoints", args: "[ISSUE]", max: 1, category: "Keep",
	description: "Reads everything that an issue has stored, live and archived; without ISSUE, of\nevery issue.",
	examples:    []string{"git checkpoint verify", "git checkpoint verify 42 --json"},
	run:         runVerify,
}

func runVerify(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	issues, err := c.issuesToVerify()
	if err != nil {
		return err
	}
	result := output.Verify{Type: "verify", Valid: true}
	hint := ""
	t := c.tickOf("verify", "checkpoints")
	defer t.end()
	c.store.SetProgress(t.at)
	for _, i := range issues {
		t.about("verify: issue " + string(i))
		report, err := c.store.Verify(c.ctx, i)
		if err != nil {
			return err
		}
		if len(report.Errors) > 0 {
			hint = cmp.Or(hint, c.recoveryCommand(i))
		}
		result.Errors = append(result.Errors, report.Errors...)
		result.Warnings = append(result.Warnings, report.Warnings...)
		result.Checked += report.Checked
	}
	t.end()
	result.Valid = len(result.Errors) == 0
	result.Warnings = append(result.Warnings, c.takeWarnings()...)
	if err := c.showVerify(result); err != nil {
		return err
	}
	if !result.Valid {
		return exit.Errorf(exit.Invalid, hint, "verify: %s in %s", phrase.Plural(len(result.Errors), "error"), phrase.Plural(result.Checked, "checkpoint"))
	}
	return nil
}

// issuesToVerify returns the named issue, or all live and archived issues.
func (c *Invocation) issuesToVerify() ([]checkpoint.Issue, error) {
	if len(c.args) > 0 || c.flags.String("issue") != "" {
		issue, err := c.issue()
		if err == nil && !c.store.HasIssue(c.ctx, issue) {
			err = &gitstore.NoneError{Issue: issue}
		}
		return []checkpoint.Issue{issue}, err
	}
	live, _, err := c.store.Issues(c.ctx, false)
	if err != nil {
		return nil, err
	}
	archived, _, err := c.store.Issues(c.ctx, true)
	if err != nil {
		return nil, err
	}
	all := append(live, archived...)
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (c *Invocation) showVerify(v output.Verify) error {
	if c.json {
		return c.write(v)
	}
	c.printFound(v.Errors, v.Warnings)
	c.print("%s checked, %s, %s\n", phrase.Plural(v.Checked, "checkpoint"), phrase.Plural(len(v.Errors), "error"), phrase.Plural(len(v.Warnings), "warning"))
	return nil
}

// printFound prints problems, errors first.
func (c *Invocation) printFound(errors, warnings []string) {
	for _, e := range errors {
		c.print("error: %s\n", output.Clean(e))
	}
	for _, w := range warnings {
		c.print("warning: %s\n", output.Clean(w))
	}
}
