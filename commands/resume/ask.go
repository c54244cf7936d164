package resume

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
)

func unanswered(r *resumption, flag string, err error) error {
	return failure.Errorf(failure.NeedsAnswer, r.command(flag), "resume %s: %w", r.Checkpoint.ID, err)
}

// viewDetails shows the whole record and the complete findings in the pager.
func viewDetails(c *invoke.Invocation, d *invoke.Dialog, r *resumption) error {
	data, err := r.details()
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(view.CleanBlock(string(data)))
	for _, reason := range r.Verdict.WorstFirst() {
		b.WriteString(details(reason))
	}
	return c.PageText(d.TTY, b.String()+"\n")
}

// details returns the checkpoint as text for a person: the document of the layout of --as
// if there is one, otherwise the record.
func (r *resumption) details() ([]byte, error) {
	if r.options.as != "" {
		if files, err := layout.Find(r.options.as).Of(r.Record); err == nil {
			var b []byte
			for _, f := range files {
				b = append(b, f.Data...)
			}
			return b, nil
		}
	}
	return r.Record.Encode()
}

// reasonLines returns the findings, worst first, for display between the prompt and its
// question.
func reasonLines(v freshness.Verdict) string {
	var b strings.Builder
	for _, r := range v.WorstFirst() {
		if r.Action > freshness.Resume {
			fmt.Fprintf(&b, "%s: %s\n", r.Action.Severity(), view.Clean(r.Message))
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// askRest asks about another branch, a changed issue, approvals and changed files.
func askRest(c *invoke.Invocation, d *invoke.Dialog, r *resumption) error {
	if err := askBranch(c, d, r); err != nil {
		return err
	}
	for _, reason := range r.Verdict.Reasons {
		if reason.Check == "body" && reason.Action == freshness.PromptUser {
			if err := askBody(c, d, r, reason); err != nil {
				return err
			}
		}
	}
	if err := askApprovals(c, d, r); err != nil || r.changed != "" || r.options.leavesFiles() {
		return err
	}
	return askFiles(c, d, r)
}

func askBody(c *invoke.Invocation, d *invoke.Dialog, r *resumption, body freshness.Reason) error {
	for {
		answer, err := d.Ask("Issue body changed since checkpoint. Resume? [y/N] ", map[string]string{"y": "y", "yes": "y", "n": "n", "no": "n", "": "n", "v": "v", "view": "v"})
		switch {
		case err != nil:
			return unanswered(r, r.answers("--yes"), err)
		case answer == "n":
			return failure.Silent{Code: failure.None}
		case answer == "y":
			return nil
		}
		if _, err := d.TTY.Write([]byte(details(body))); err != nil {
			return err
		}
	}
}

func details(reason freshness.Reason) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", reason.Action.Severity(), view.Clean(reason.Message))
	lines := reason.Detail
	if len(reason.Diff) > 0 {
		lines = reason.Diff
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "  %s\n", view.Clean(line))
	}
	return b.String()
}

// gate stops a resume by flag if HEAD is on another branch, or if a phase awaits
// approval: --yes answers the prompt, but names no branch and approves no phase.
func gate(c *invoke.Invocation, r *resumption) error {
	switched := false
	if r.lacksBranch() && !r.options.force && !r.options.judge.Auto {
		var err error
		if switched, err = switchContact(c, r); err != nil {
			return err
		}
	}
	elsewhere := r.otherBranch() != nil && !r.options.leavesFiles() && !switched
	if len(r.Verdict.Awaiting) == 0 && !elsewhere || r.options.force {
		return nil
	}
	if err := stopResume(c, r); err != nil {
		return err
	}
	d, err := c.Dialog("")
	if err != nil || r.options.judge.Auto || c.Line.JSON {
		return notByFlag(c, r, elsewhere)
	}
	defer d.Close()
	if r.options.dryRun {
		return nil
	}
	if elsewhere {
		if err := askBranch(c, d, r); err != nil {
			return err
		}
	}
	return askApprovals(c, d, r)
}

// notByFlag returns the failure if --yes does not answer every question.
func notByFlag(c *invoke.Invocation, r *resumption, elsewhere bool) error {
	var why []string
	hint := r.command(r.answers("--yes"))
	if elsewhere {
		why, hint = append(why, r.BranchMessage()), branchHints(r)
		if r.Verdict.Other.Place != "" {
			why = append(why, r.Placed())
		}
	}
	for _, phase := range r.Verdict.Awaiting {
		why = append(why, "approval of phase "+phase+" is pending")
	}
	return because(c, r, failure.NeedsAnswer, hint, "resume %s: %s", why)
}

func askApprovals(c *invoke.Invocation, d *invoke.Dialog, r *resumption) error {
	for _, phase := range r.Verdict.Awaiting {
		answer, err := d.Ask(fmt.Sprintf("Approval of phase %s is pending. Approve it? [y/N] ", view.Clean(phase)), invoke.YesNo)
		if err != nil {
			return unanswered(r, r.answers("--yes"), err)
		}
		if answer == "n" {
			return failure.Silent{Code: failure.None}
		}
		r.approvals = append(r.approvals, gitstore.Approval{Phase: phase, At: c.Env.Now()})
	}
	return nil
}

// attempt returns the number of attempts of the phase, including this attempt, or 0 if
// attempts are not counted.
func (r *resumption) attempt() int {
	n := r.Record.PhaseAttempt()
	if r.retries > 0 {
		n = max(n, 1) + r.retries
	}
	return n
}

// attemptText returns the number of attempts if there are several, otherwise "".
func (r *resumption) attemptText() string {
	if n := r.attempt(); n > 1 {
		return strconv.Itoa(n)
	}
	return ""
}

// answers returns the flags that answer the questions of a resume. Given answers are
// included, because a repeated command has to give them again.
func (r *resumption) answers(flag string) string {
	if b := r.options.judge.Branch; b != "" && b != r.Checkpoint.Branch {
		flag += " --branch " + view.QuoteArg(b)
	}
	return flag + r.approvalFlags()
}

// approvalFlags returns the flags that approve the phases of given and pending approvals.
func (r *resumption) approvalFlags() (flags string) {
	for _, a := range r.approvals {
		flags += " --approve " + view.QuoteArg(a.Phase)
	}
	for _, phase := range r.Verdict.Awaiting {
		flags += " --approve " + view.QuoteArg(phase)
	}
	return flags
}

// askFiles asks for each file that changed since the checkpoint which version to keep.
func askFiles(c *invoke.Invocation, d *invoke.Dialog, r *resumption) error {
	r.each = map[string]gitstore.Changed{}
	for _, path := range r.Verdict.Files.Changed {
		if slices.Contains(r.Verdict.Files.InTheWay, path) {
			continue // this file stays in any case
		}
		answer, err := askFile(c, d, r, path)
		if err != nil {
			return err
		}
		if answer == "abort" {
			return failure.Silent{Code: failure.None}
		}
		r.each[path] = gitstore.Changed(answer)
	}
	return nil
}

func askFile(c *invoke.Invocation, d *invoke.Dialog, r *resumption, path string) (string, error) {
	text := fmt.Sprintf("Changed since the checkpoint: %s\nKeep (m)ine, take the (c)heckpoint's, mer(g)e, show the (d)iff, or (a)bort? [m] ", view.QuotePath(path))
	for {
		answer, err := d.Ask(text, map[string]string{
			"m": "mine", "mine": "mine", "": "mine", "c": "checkpoint", "checkpoint": "checkpoint",
			"g": "merge", "merge": "merge", "d": "diff", "diff": "diff", "a": "abort", "abort": "abort",
		})
		if err != nil {
			return "", unanswered(r, r.answers("--changed mine"), err)
		}
		if answer != "diff" {
			return answer, nil
		}
		diff, err := c.Store.Files.Diff(c.Ctx, r.Checkpoint, path)
		if err != nil {
			diff = err.Error() + "\n"
		}
		if _, err := d.TTY.Write([]byte(view.CleanBlock(diff))); err != nil {
			return "", err
		}
	}
}
