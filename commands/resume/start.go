package resume

import (
	"os"
	"os/exec"
	"slices"

	"git-checkpoint/commands/internal/guard"
	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

func (o *resumeOptions) checkStart(c *invoke.Invocation) error {
	a := hook.AgentNamed(o.to)
	switch {
	case o.start && o.to == "":
		return failure.Usagef("resume: --start goes with --to")
	case o.to == "":
		return nil
	case a == nil:
		return failure.Usagef("resume: --to: %q is not one of %s", o.to, view.List(hook.Agents()))
	case len(a.Start) == 0:
		return failure.Usagef("resume: --to: no command is known that starts %s with a request", a.Name)
	case o.ci || o.print != "text" && !c.Line.JSON:
		return failure.Usagef("resume: --to prints a command for a person, and programs read the output")
	case o.start && c.Line.JSON:
		return failure.Usagef("resume: --start and --json cannot be combined")
	}
	return nil
}

// startWords returns the command that starts the agent of --to with a request to continue the
// work, or nil. The hook of the session gives it the state of the work.
func (r *resumption) startWords() []string {
	a := hook.AgentNamed(r.options.to)
	if a == nil {
		return nil
	}
	issue := view.IssueArg(r.Checkpoint.Issue)
	request := "Continue the work on issue " + string(r.Checkpoint.Issue) + ". Unless you know where it stands, read: git checkpoint resume " + issue + " --dry-run --auto --print prompt"
	return append(slices.Clone(a.Start), request)
}

// giveTo prints the command that starts the agent of --to, or runs it.
func giveTo(c *invoke.Invocation, r *resumption) error {
	words := r.startWords()
	if words == nil {
		return nil
	}
	// The hook of the session leaves out lines of a long text.
	s, err := work.Newest(c, r.Checkpoint.Issue, work.JudgeOptions{Issue: work.IssueOptions{Offline: true}})
	if err == nil && view.IsShortened(work.HandOver(c, s, "")) {
		c.Warnf("the text for %s is shortened to %d bytes: git checkpoint show %s prints the record", r.options.to, work.HandOverBytes, view.IssueArg(r.Checkpoint.Issue))
	}
	if sessions.LastRan(c.Store.Notes, r.options.to, "*").IsZero() {
		c.Warnf("no hook of %[1]s has run in this clone; without hooks it gets only a request: git checkpoint hooks install --agent %[1]s", r.options.to)
	}
	switch {
	case !r.options.start || r.options.dryRun:
		if !c.Line.JSON {
			c.Printf("%s\n", view.QuoteArgs(words))
		}
		return nil
	case c.Store.Root() != "":
		if err := os.Chdir(c.Store.Root()); err != nil {
			return err
		}
	}
	return startAgent(c, r.options.to, r.Checkpoint.Issue, words)
}

// startAgent runs the command of an agent in the foreground, and passes signals and the exit code
// on. Then it reports whether the session confirmed that it got the work.
func startAgent(c *invoke.Invocation, agent string, issue checkpoint.Issue, words []string) error {
	path, err := exec.LookPath(words[0])
	if err != nil {
		return failure.CodeErrorf(127, "resume: %s: command not found", words[0])
	}
	before, _ := sessions.LastReceipt(c.Store.Notes, issue)
	g := &guard.Guard{
		Path: path, Args: words, Env: os.Environ(), ByGit: c.Env.Getenv("GIT_EXEC_PATH") != "",
	}
	if named, err := c.NamedIssue(); err != nil || named != issue {
		g.Env = append(g.Env, invoke.IssueVariables(issue, c.Store.GitDir())...)
	}
	code, err := g.Run(c.Ctx)
	if err != nil {
		return failure.CodeErrorf(126, "resume: %s: %v", words[0], err)
	}
	switch got, ok := sessions.LastReceipt(c.Store.Notes, issue); {
	case !ok || got.To != agent || got == before:
		c.Warnf("no hook of %s has confirmed that it got the work", agent)
	case got.Cut:
		c.Warnf("%s got a shortened text of %d bytes", agent, got.Bytes)
	}
	if code != 0 {
		return failure.Silent{Code: code}
	}
	return nil
}
