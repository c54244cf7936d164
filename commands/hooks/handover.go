package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// sessionStart prints the newest checkpoint of the issue for a new session. The text is
// marked as data, because anyone who can push a ref can write it.
func sessionStart(c *invoke.Invocation, args []string) (failed error) {
	in := readSessionInput(c)
	whole := c.Ctx
	done, on, err := openQuickly(c, func() error {
		opened := in
		if in.Source != "compact" { // after a compaction the record counts, since the agent may have changed its directory
			opened.SessionID = ""
		}
		_, _, err := openSession(c, opened)
		return err
	})
	defer done()
	if err != nil || !on {
		return err
	}
	unwritable := c.Store.Doctor.TryWrites()
	defer func() { failed = cmp.Or(failed, unwritable) }() // one line on standard error
	agent := agentName(args)
	before, _ := sessions.Read(c.Store.Notes, in.SessionID)
	sessions.Ran(c.Store.Notes, agent, c.Line.Args[0], c.Env.Now())
	issue, ok := before.Issue, false
	if in.Source == "compact" && before.Named { // the session goes on, perhaps on another branch
		ok = c.Store.HasIssue(c.Ctx, issue)
	} else {
		record(c, in, agent)
		if work.FetchStarted(whole, c) {
			var again context.CancelFunc
			c.Ctx, again = context.WithTimeout(whole, hookTime)
			defer again()
		}
		issue, ok = handedIssue(c)
	}
	if !ok {
		return tellMissing(c, agent)
	}
	r, err := newestHere(c, issue, work.JudgeOptions{Issue: work.IssueOptions{Offline: true}})
	var none *gitstore.NoneError
	if errors.As(err, &none) {
		_, err := tellEnding(c, agent, issue)
		return err
	}
	if err != nil || r.Verdict.At.Complete {
		return err
	}
	if !sessions.Claim(c.Ctx, c.Store.Notes, agent, in.SessionID, in.Source, c.Env.Now()) {
		return nil
	}
	message := "issue " + string(issue) + ", saved " + view.Ago(r.Record.CreatedAt(), c.Env.Now())
	if unwritable != nil {
		message = unwritable.Error() + "; " + message
	}
	if failed := work.LastFailedPush(c, issue); failed.Text != "" {
		message += "; " + failed.Text
	}
	last := work.LastSession(c, r.Checkpoint, r.Record)
	if last.ID != in.SessionID && last.Command != "" {
		message += "; to continue its session" + last.Age + ": " + last.Command
	}
	if in.Source == "resume" && (before.ID == "" || before.Issue == issue) { // the conversation has the text
		return handOver(c, agent, message, "git-checkpoint: "+message+". "+work.HowToSave)
	}
	text := work.HandOver(c, r, in.SessionID)
	err = handOver(c, agent, message, text)
	if err == nil && agent != "" {
		_ = sessions.AddReceipt(c.Store.Notes, sessions.Receipt{
			At: c.Env.Now(), Issue: issue, Checkpoint: r.Checkpoint.ID, From: last.Agent, To: agent, Session: in.SessionID,
			SHA256: sessions.Digest(text), Bytes: len(text), Cut: view.IsShortened(text),
		})
	}
	return err
}

// tellEnding prints one line about the end of an issue's work. It returns false if the work goes on.
func tellEnding(c *invoke.Invocation, agent string, issue checkpoint.Issue) (ended bool, err error) {
	e := work.EndingOf(c, issue)
	if e == nil {
		return false, nil
	}
	message := fmt.Sprintf("issue %s was finished: %s", issue, e.Text(c.Env.Now()))
	return true, handOver(c, agent, message, view.Clean("git-checkpoint: "+message+". Its checkpoints: "+e.Hint())+"\n")
}

// tellMissing prints one line for a branch whose issue has no checkpoints in this clone: that the
// work under a former name of the branch has ended, or the command that resumes from the remote. The
// remote must have the branch.
func tellMissing(c *invoke.Invocation, agent string) error {
	branch, err := c.CurrentBranch()
	if err != nil || branch == "" {
		return nil
	}
	for _, former := range c.FormerIssues(branch) {
		if ended, err := tellEnding(c, agent, former); ended {
			return err
		}
	}
	issue, err := c.NamedIssue()
	if err != nil || !c.Store.RemoteMayHave(c.Ctx, branch, string(issue) != branch) {
		return nil
	}
	message := fmt.Sprintf("no checkpoint of issue %s is here; the remote may have some", issue)
	command := "git checkpoint resume " + view.IssueArg(issue) + " --auto --print prompt"
	return handOver(c, agent, message, view.Clean("git-checkpoint: "+message+". To fetch and resume them: "+command)+"\n")
}

// newestHere returns the newest checkpoint of an issue on the current branch with a verdict,
// if two branches work on the issue. Otherwise it returns the checkpoint from which the work
// goes on.
func newestHere(c *invoke.Invocation, issue checkpoint.Issue, o work.JudgeOptions) (*view.Standing, error) {
	r, err := work.Newest(c, issue, o)
	branch, _ := c.CurrentBranch()
	if err != nil || branch == "" || r.Checkpoint.Branch == branch {
		return r, err
	}
	l, err := c.Store.List(c.Ctx, issue, 50)
	if err != nil {
		return r, nil
	}
	at := slices.IndexFunc(l.Checkpoints, func(cp gitstore.Checkpoint) bool { return cp.Branch == branch && cp.ID != "" })
	if at < 0 {
		return r, nil
	}
	record, err := c.Store.ValidRecord(&l.Checkpoints[at])
	if err != nil {
		return r, nil
	}
	own, err := work.Judge(c, &l.Checkpoints[at], record, o)
	if err != nil {
		return r, nil
	}
	return own, nil
}

// handOver prints a text for the model, and a message for the user, in the agent's format.
func handOver(c *invoke.Invocation, agent, message, text string) error {
	a := hook.AgentNamed(agent)
	if a == nil || len(a.JSON) == 0 {
		c.Printf("%s", text)
		return nil
	}
	message = view.Truncate(view.Clean("git-checkpoint: "+message), 200)
	return view.WriteContext(c.Out, a.JSON, strings.ToValidUTF8(text, "?"), message)
}
