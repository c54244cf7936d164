// Package doctor has the commands that check a repository and its checkpoints: doctor and
// verify.
package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// DoctorCommand declares git checkpoint doctor.
var DoctorCommand = invoke.Command{
	Name: "doctor", Usage: "check the health of the repository, hooks, settings and references", Category: "Keep",
	Description: "Checks for locks and files of dead processes, refs to missing commits, missing\n" +
		"objects, hooks that do not run, wrong settings, clocks that run ahead, folders that\n" +
		"cannot be written. --fix fetches damaged objects again from the remotes, repairs\n" +
		"problems if no data can be lost, and prints each repair. git checkpoint verify checks\n" +
		"the contents of checkpoints.",
	Examples:      []string{"git checkpoint doctor", "git checkpoint doctor --fix", "git checkpoint doctor --sizes", "git checkpoint doctor --report > report.txt"},
	ReadsOnly:     true, // Fix repairs under a lock
	NeedsSettings: true,
	New:           invoke.Bind((*doctorOptions).flags, runDoctor),
}

// doctorOptions holds the flags of doctor.
type doctorOptions struct {
	fix   bool // repair what can be repaired without loss
	sizes bool // measure the disk usage of each issue

	report bool // print a bug report
}

func (o *doctorOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "fix", Usage: "repair problems if no data can be lost", Destination: &o.fix},
		&cli.BoolFlag{Name: "report", Usage: "print versions, settings, sizes and the end of the trace for a bug report, without contents and addresses", Destination: &o.report},
		&cli.BoolFlag{Name: "sizes", Usage: "print the disk usage of each issue; reads every tree", Destination: &o.sizes},
	}
}

func runDoctor(c *invoke.Invocation, o *doctorOptions) error {
	if o.report && (c.Line.JSON || o.fix || o.sizes) {
		return failure.Usagef("doctor: --report prints a text of its own: it takes none of --json, --fix and --sizes")
	}
	err := c.Open()
	if c.Store == nil {
		return err
	}
	result := view.Doctor{Verify: view.Verify{Type: "doctor"}}
	var setting *config.SettingError
	if errors.As(err, &setting) {
		result.Errors = append(result.Errors, setting.Error())
	} else if err != nil {
		return err
	}
	t := c.Tick("doctor: reading the repository")
	defer t.End()
	silent := func(string) {}
	var reports []*gitstore.Report
	searched := false // for copies of damaged objects, everywhere
	if o.fix {
		if reports, err = verifyAll(c, silent); err != nil {
			return err
		}
		searched = mend(c, reports, &result)
	}
	fixable, err := checkAll(c, o.fix, &result)
	if err == nil && (!o.fix || len(result.Fixed) > 0) {
		reports, err = verifyAll(c, silent)
	}
	if err != nil {
		return err
	}
	unwritable := c.Store.Doctor.TryWrites()
	if unwritable != nil {
		result.Errors = append(result.Errors, unwritable.Error())
	}
	damaged, err := inspect(c, reports, &result)
	if err != nil {
		return err
	}
	if o.report {
		return report(c, result)
	}
	if o.sizes {
		if err := measure(c, &result); err != nil {
			return err
		}
	}
	result.Valid = len(result.Errors) == 0
	result.Warnings = append(result.Warnings, c.TakeWarnings()...)
	if err := showDoctor(c, result); err != nil || result.Valid {
		return err
	}
	hint := ""
	switch {
	case fixable > 0:
		hint = "git checkpoint doctor --fix"
	case setting != nil:
		hint = setting.Hint
	case unwritable != nil:
		hint = failure.Classify(unwritable).Hint
	case damaged != nil:
		hint = invoke.RecoveryHint(c, damaged, searched)
	}
	return failure.Errorf(failure.Invalid, cmp.Or(hint, "git checkpoint verify"), "doctor: %s", view.Plural(len(result.Errors), "error"))
}

// mend looks for whole copies of damaged objects and uses them. It reports whether all remotes have
// answered.
func mend(c *invoke.Invocation, reports []*gitstore.Report, result *view.Doctor) (answered bool) {
	answered = true
	for _, r := range reports {
		if len(r.Lost) == 0 {
			continue
		}
		req := gitstore.OpenRemoteRequest{Timeout: c.RemoteTimeout(), Quiet: !terminal.Has()}
		n, err := c.Store.Mend(c.Ctx, r, req, c.Store.RemoteNames())
		if n > 0 {
			result.Fixed = append(result.Fixed, fmt.Sprintf("replaced %s of issue %s by whole copies", view.Plural(n, "damaged object"), r.Issue))
		}
		if err != nil {
			c.Warnf("%v", err)
			answered = false
		}
	}
	return answered
}

// checkAll adds the findings around the chains to the result, after a repair if fix is set. It returns
// the number of findings that can be repaired.
func checkAll(c *invoke.Invocation, fix bool, result *view.Doctor) (fixable int, err error) {
	findings, err := c.Store.Doctor.Check(c.Ctx)
	if err == nil && fix {
		for _, f := range findings {
			if f.Fix == nil {
				continue
			}
			if said, err := f.Fix(c.Ctx); err != nil {
				result.Errors = append(result.Errors, fmt.Sprintf("%s: not fixed: %v", f.Text, err))
			} else {
				result.Fixed = append(result.Fixed, said)
			}
		}
		findings, err = c.Store.Doctor.Check(c.Ctx)
	}
	for _, f := range findings {
		if f.Fix != nil {
			fixable++
		}
		if f.Error {
			result.Errors = append(result.Errors, f.Text)
		} else {
			result.Warnings = append(result.Warnings, f.Text)
		}
	}
	return fixable, err
}

func showDoctor(c *invoke.Invocation, v view.Doctor) error {
	if c.Line.JSON {
		return c.WriteJSON(v)
	}
	for _, line := range v.Fixed {
		c.Printf("fixed: %s\n", view.Clean(line))
	}
	printFound(c, v.Verify)
	for _, s := range v.Sizes {
		c.Printf("%9s  issue %s, %s\n", view.Bytes(s.Bytes), view.Clean(s.Issue), view.Plural(s.Checkpoints, "checkpoint"))
	}
	o, err := c.Store.Doctor.ObjectCounts(c.Ctx)
	if err != nil {
		return err
	}
	c.Printf("%s; %s, %s\n", summaryOf(v.Verify), view.Plural(o.Loose, "loose object"), view.Plural(o.Packs, "pack"))
	return nil
}

// measure adds the disk usage of each issue to the result, largest first.
func measure(c *invoke.Invocation, result *view.Doctor) error {
	issues, err := issuesToVerify(c)
	if err != nil {
		return err
	}
	for _, i := range issues {
		u, err := c.Store.Doctor.Usage(c.Ctx, i)
		if err != nil { // a damaged issue, which the checks report
			c.Warnf("%v", err)
			continue
		}
		result.Sizes = append(result.Sizes, view.Size{Issue: string(i), Checkpoints: u.Checkpoints, Bytes: u.Bytes})
	}
	slices.SortStableFunc(result.Sizes, func(a, b view.Size) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return nil
}
