package resume

import (
	"fmt"
	"slices"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
)

// gate stops a resume by flag if a phase awaits approval: --yes answers the prompt, but
// approves no phase.
func gate(c *invoke.Invocation, r *resumption) error {
	if len(r.Verdict.Awaiting) == 0 || c.Flags.Bool("dry-run") || c.Flags.Bool("force") {
		return nil
	}
	if err := stopResume(c, r); err != nil {
		return err
	}
	d, err := c.Dialog("")
	if err != nil || judge.Auto(c) || c.JSON {
		why := make([]string, len(r.Verdict.Awaiting))
		for k, phase := range r.Verdict.Awaiting {
			why[k] = "approval of phase " + phase + " is pending"
		}
		return because(c, r, exit.NeedsAnswer, r.command(r.answers("--yes")), "resume %s: %s", why)
	}
	defer d.Close()
	return askApprovals(c, d, r)
}

// askApprovals asks about every phase that awaits approval.
func askApprovals(c *invoke.Invocation, d *invoke.Dialog, r *resumption) error {
	for _, phase := range r.Verdict.Awaiting {
		answer, err := d.Ask(fmt.Sprintf("Approval of phase %s is pending. Approve it? [y/N] ", output.Clean(phase)), invoke.YesNo)
		if err != nil {
			return unanswered(c, r, r.answers("--yes"), err)
		}
		if answer == "n" {
			return exit.Silent{Code: exit.None}
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

// answers returns the flags that answer the questions of a resume. Given approvals are
// included, because a repeated command has to give them again.
func (r *resumption) answers(flag string) string {
	for _, a := range r.approvals {
		flag += " --approve " + phrase.QuoteArg(a.Phase)
	}
	for _, phase := range r.Verdict.Awaiting {
		flag += " --approve " + phrase.QuoteArg(phase)
	}
	return flag
}

// approve adds the approvals of the command line. It fails if a phase awaits no approval.
func approve(c *invoke.Invocation, r *resumption) error {
	for _, phase := range c.Lists["approve"] {
		if !slices.Contains(r.Record.Awaiting(), phase) {
			return exit.Usagef("resume: --approve: phase %q of %s waits for no approval", phase, r.Checkpoint.ID)
		}
		r.approvals = append(r.approvals, gitstore.Approval{Phase: phase, At: c.Env.Now()})
	}
	return nil
}
