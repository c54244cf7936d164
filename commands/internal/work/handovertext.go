package work

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
)

// HandOverBytes limits the text for a new session. Claude Code replaces more than 10,000
// characters by a preview, and Codex more than 2,500 tokens.
const HandOverBytes = 8000

// HowToSave is the line about saving for an agent.
const HowToSave = "To save what is done: git checkpoint save -m 'what is done, what is next'\n"

// HandOver returns the text for a new session, in at most HandOverBytes. reader is the id of
// this session.
func HandOver(c *invoke.Invocation, r *view.Standing, reader string) string {
	more := HandOverFacts(c, r, reader)
	err := c.Store.Restorer.CheckResume(c.Ctx, r.Checkpoint)
	if err == nil {
		more.Missing, more.Skipped, more.Unsaved = r.Verdict.Restores, r.Verdict.Changed, r.Verdict.Unsaved
	}
	after := nextStep(resumeArgs(c, r), r, err == nil, more) + HowToSave
	return view.Prompt(r, more, c.Env.Now(), HandOverBytes-len(after)) + after
}

// resumeArgs returns the issue for resume, and the id of a checkpoint that resume does not
// choose by itself.
func resumeArgs(c *invoke.Invocation, r *view.Standing) string {
	args := view.IssueArg(r.Checkpoint.Issue)
	if p, err := c.Store.Point(c.Ctx, r.Checkpoint.Issue); err == nil && p.ID != r.Checkpoint.ID {
		args += " " + string(r.Checkpoint.ID)
	}
	return args
}

// nextStep returns the line about the files. An agent is not asked to answer a question
// that a person has to decide.
func nextStep(resume string, r *view.Standing, checked bool, more view.PromptMore) string {
	switch {
	case r.Verdict.CanResume && !r.Verdict.AutoResume:
		return "A person has to decide first: git checkpoint resume " + resume + "\n"
	case r.Verdict.Action == freshness.StartFresh:
		return "The checkpoint cannot be resumed. The reasons: git checkpoint status " + view.IssueArg(r.Checkpoint.Issue) + "\n"
	case !checked || len(more.Missing) > 0:
		return "To restore the files (those that changed since stay): git checkpoint resume " + resume + " --yes\n"
	case r.Record.Snapshot().IsOutOfTime():
		return "The time of the save ran out. Files that it did not read are as an earlier checkpoint has them.\n"
	case len(more.Skipped)+len(more.Unsaved) > 0:
		return "The files are here. Those that changed since stay as they are.\n"
	}
	return "The files are here as they were saved.\n"
}
