package hooks

import (
	"strings"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/issuesource"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
)

// handoverBytes limits the text for a new session. Claude Code replaces more than 10,000
// characters by a preview, and Codex more than 2,500 tokens.
const handoverBytes = 8000

// sessionStart prints the newest checkpoint of the issue for a new session. The text is
// marked as data, because anyone who can push a ref can write it.
func sessionStart(c *invoke.Invocation, args []string) error {
	in := readSessionInput(c)
	if gitstore.ReadHookPrecheck().HasNoCheckpoints() && in.SessionID == "" {
		return nil
	}
	done, on, err := openStarted(c, in)
	defer done()
	if err != nil || !on {
		return err
	}
	agent := agentName(args)
	before, _ := sessions.Read(c.Store.Notes, in.SessionID)
	sessions.Ran(c.Store.Notes, agent, c.Args[0], c.Env.Now())
	record(c, in, agent)
	issue, ok := handedIssue(c)
	if !ok {
		return nil
	}
	r, err := newest(c, issue, judge.Options{Auto: true, FilesAnswered: true, Issue: issuesource.Options{Offline: true}})
	if err != nil || standing.Of(r.Record, r.Verdict).Complete {
		return err
	}
	if !sessions.Claim(c.Ctx, c.Store.Notes, agent, in.SessionID, in.Source, c.Env.Now()) {
		return nil
	}
	message := "issue " + string(issue) + ", saved " + phrase.Ago(r.Record.CreatedAt(), c.Env.Now())
	if in.Source == "resume" && (before.ID == "" || before.Issue == issue) { // the conversation has the text
		return handOver(c, agent, message, "git-checkpoint: "+message+". "+howToSave)
	}
	return handOver(c, agent, message, handover(c, r))
}

// howToSave is the line about saving for an agent.
const howToSave = "To save what is done: git checkpoint save -a -m 'what is done, what is next'\n"

// handover returns the text for a new session, in at most handoverBytes.
func handover(c *invoke.Invocation, r standing.Judged) string {
	more := standing.PromptMore{
		Attempt: r.Record.PhaseAttempt(), Session: standing.SessionText(c, r.Checkpoint, r.Record), Notes: standing.PastNotes(c, r),
	}
	found, err := c.Store.Restore(c.Ctx, gitstore.RestoreRequest{Checkpoint: r.Checkpoint, AnyBranch: true, Request: gitstore.RestoreOptions{DryRun: true}})
	if err == nil {
		more.Missing, more.Skipped = found.Restored, append(found.Skipped, found.InTheWay...)
	}
	after := nextStep(r, err == nil, more) + howToSave
	return standing.Prompt(r, more, c.Env.Now(), handoverBytes-len(after)) + after
}

// nextStep returns the line about the files. An agent is not asked to answer a question
// that a person has to decide.
func nextStep(r standing.Judged, checked bool, more standing.PromptMore) string {
	issue := phrase.IssueArg(r.Checkpoint.Issue)
	switch {
	case r.Verdict.Action == freshness.PromptUser:
		return "A person has to decide first: git checkpoint resume " + issue + "\n"
	case r.Verdict.Action == freshness.StartFresh:
		return "The checkpoint cannot be resumed. The reasons: git checkpoint status " + issue + "\n"
	case !checked || len(more.Missing) > 0:
		return "To restore the files: git checkpoint resume " + issue + " --yes\n"
	case len(more.Skipped) > 0:
		return "The files are here. Those that changed since stay as they are.\n"
	}
	return "The files are here as they were saved.\n"
}

// handOver prints a text for the model, and a message for the user, in the agent's format.
func handOver(c *invoke.Invocation, agent, message, text string) error {
	a := hook.AgentNamed(agent)
	if a == nil || len(a.JSON) == 0 {
		c.Printf("%s", text)
		return nil
	}
	message = output.Truncate(output.Clean("git-checkpoint: "+message), 200)
	return output.WriteContext(c.Out, a.JSON, strings.ToValidUTF8(text, "?"), message)
}
