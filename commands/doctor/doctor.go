// Package doctor has the commands that check a repository and its checkpoints: doctor and
// verify.
package doctor

import (
	"errors"
	"fmt"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/githooks"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"

	"github.com/urfave/cli/v2"
)

// DoctorCommand declares git checkpoint doctor.
var DoctorCommand = invoke.Command{
	Name: "doctor", Usage: "check the health of the repository, hooks, settings and references", Category: "Keep",
	Description: "Looks for locks and files of processes that are gone, refs that lead nowhere, missing\n" +
		"objects, hooks that do not run, settings that are wrong, clocks that run ahead. --fix mends\n" +
		"what can be mended without losing anything, and says each thing. What files hold is\n" +
		"checked by git checkpoint verify.",
	Examples: []string{"git checkpoint doctor", "git checkpoint doctor --fix", "git checkpoint doctor --sizes"},
	Flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "mend what is safe to mend"},
			&cli.BoolFlag{Name: "sizes", Usage: "say how much room each issue takes alone; reads every tree"},
		}
	},
	Run: runDoctor,
}

func runDoctor(c *invoke.Invocation) error {
	err := c.Open()
	if c.Store == nil {
		return err
	}
	result := output.Doctor{Verify: output.Verify{Type: "doctor"}}
	var setting *config.SettingError
	if errors.As(err, &setting) {
		result.Errors = append(result.Errors, withHint(setting))
	} else if err != nil {
		return err
	}
	fixable := 0
	if c.Flags.Bool("fix") {
		if err := c.Store.SettleInterrupted(c.Ctx); err != nil {
			c.Warnf("%v", err)
		}
	}
	for fix := c.Flags.Bool("fix"); ; fix = false {
		findings, err := examine(c)
		if err != nil {
			return err
		}
		if fix && mendAll(c, findings, &result) {
			continue
		}
		fixable = addFindings(findings, &result)
		break
	}
	if err := inspectAll(c, &result); err != nil {
		return err
	}
	if err := measure(c, &result); err != nil {
		return err
	}
	result.Valid = len(result.Errors) == 0
	result.Warnings = append(result.Warnings, c.TakeWarnings()...)
	if err := showDoctor(c, result); err != nil {
		return err
	}
	if !result.Valid {
		hint := "git checkpoint verify"
		if fixable > 0 {
			hint = "git checkpoint doctor --fix"
		}
		return exit.Errorf(exit.Invalid, hint, "doctor: %s", phrase.Plural(len(result.Errors), "error"))
	}
	return nil
}

// withHint returns a setting's error text with a corrective command.
func withHint(e *config.SettingError) string {
	if e.Hint == "" {
		return e.Error()
	}
	return e.Error() + ": " + e.Hint
}

func examine(c *invoke.Invocation) ([]gitstore.Finding, error) {
	version, err := c.Store.Git().Version(c.Ctx)
	if err != nil {
		return nil, err
	}
	return c.Store.Examine(c.Ctx, version)
}

// mendAll repairs the findings that have a repair and reports whether any repair
// succeeded.
func mendAll(c *invoke.Invocation, findings []gitstore.Finding, result *output.Doctor) bool {
	for _, f := range findings {
		if f.Mend == nil {
			continue
		}
		said, err := c.Store.Mend(c.Ctx, *f.Mend)
		if err != nil {
			c.Warnf("%v", err)
			continue
		}
		result.Fixed = append(result.Fixed, said)
	}
	return len(result.Fixed) > 0
}

// addFindings adds findings to the result and returns the number that --fix would repair.
func addFindings(findings []gitstore.Finding, result *output.Doctor) (fixable int) {
	for _, f := range findings {
		if f.Mend != nil {
			fixable++
		}
		if f.Error {
			result.Errors = append(result.Errors, f.Text)
		} else {
			result.Warnings = append(result.Warnings, f.Text)
		}
	}
	return fixable
}

// inspectAll inspects every chain, the hooks and the related settings.
func inspectAll(c *invoke.Invocation, result *output.Doctor) error {
	issues, err := issuesToVerify(c)
	if err != nil {
		return err
	}
	for _, i := range issues {
		report, err := c.Store.Inspect(c.Ctx, i)
		if err != nil {
			return err
		}
		result.Errors = append(result.Errors, report.Errors...)
		result.Warnings = append(result.Warnings, report.Warnings...)
		result.Checked += report.Checked
	}
	checkPace(c, issues, result)
	result.Warnings = append(result.Warnings, unfinishedWrites(c)...)
	hooks, err := githooks.Find(c)
	if err != nil {
		return err
	}
	for _, h := range hooks {
		if text := hookTrouble(h); text != "" {
			result.Warnings = append(result.Warnings, text)
		}
	}
	return nil
}

// hookTrouble returns a hook's problem, or "" if there is no problem.
func hookTrouble(h output.Hook) string {
	wanted := h.Event == "pre-push" && h.Setting != "off"
	switch {
	case h.Way != "" && !h.Runs:
		return fmt.Sprintf("hook %s: it is in %s, and does not run: %s", h.Event, h.Place, h.Why)
	case h.Way == "" && wanted:
		return fmt.Sprintf("hook %s: hooks.pre_push is %s, and no hook is installed: git checkpoint hooks install --push", h.Event, h.Setting)
	}
	return ""
}

func showDoctor(c *invoke.Invocation, v output.Doctor) error {
	if c.JSON {
		return c.WriteJSON(v)
	}
	for _, line := range v.Fixed {
		c.Printf("fixed: %s\n", output.Clean(line))
	}
	printFound(c, v.Errors, v.Warnings)
	printSizes(c, v.Sizes)
	o, err := c.Store.ObjectCounts(c.Ctx)
	if err != nil {
		return err
	}
	c.Printf("%s checked, %s, %s; %s, %s\n", phrase.Plural(v.Checked, "checkpoint"), phrase.Plural(len(v.Errors), "error"), phrase.Plural(len(v.Warnings), "warning"),
		phrase.Plural(o.Loose, "loose object"), phrase.Plural(o.Packs, "pack"))
	return nil
}
