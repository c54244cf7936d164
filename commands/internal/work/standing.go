package work

import (
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/trace"
)

// Newest returns the standing of an issue's work: the checkpoint from which it goes on, with
// its verdict.
func Newest(c *invoke.Invocation, issue checkpoint.Issue, o JudgeOptions) (*view.Standing, error) {
	p, r, err := c.Store.PointRecord(c.Ctx, issue)
	if err != nil {
		return nil, err
	}
	s, err := Judge(c, p.Checkpoint, r, o)
	if err != nil {
		return nil, err
	}
	s.Point = p
	return s, nil
}

// Judge returns the standing of the work at a checkpoint, with its verdict.
func Judge(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record, o JudgeOptions) (*view.Standing, error) {
	s := &view.Standing{Checkpoint: cp, Record: r, Now: c.Env.Now()}
	_, err := Rejudge(c, s, o)
	return s, err
}

// Rejudge computes the verdict of a standing from its checkpoint and its stored record, and
// returns the answer of the issue's source. The record of a pipeline's lead is joined with the
// records of its stories.
func Rejudge(c *invoke.Invocation, s *view.Standing, o JudgeOptions) (source IssueAnswer, err error) {
	defer trace.Begin(trace.Step, "verdict").End()
	if s.Stored == nil {
		s.Stored = s.Record
	}
	record, stories := JoinStories(c, s.Stored)
	s.Record = record
	s.Verdict, source, err = verdict(c, s.Checkpoint, record, stories, o)
	return source, err
}

// LookBeside adds what outputs show beside the verdict: author, session, work that was saved
// in parallel, the current branch, and whether a resume can put files back.
func LookBeside(c *invoke.Invocation, s *view.Standing) {
	cp := s.Checkpoint
	s.Now, s.By, s.Parallel = c.Env.Now(), OtherAuthor(c, cp), NotHere(c, cp.Issue, cp.ID)
	if found, ok := sessions.Of(c.Store.Notes, s.Record.Session(), ""); ok {
		s.Session = view.Session{ID: found.ID, Agent: found.Agent, Transcript: found.Transcript, Command: found.Command(), Text: found.Text()}
	}
	if g, ok := sessions.LastReceipt(c.Store.Notes, cp.Issue); ok {
		s.Given = view.Given{To: g.To, Session: g.Session, At: g.At, Bytes: g.Bytes, Cut: g.Cut, Saved: cp.Saved.After(g.At)}
	}
	failed := LastFailedPush(c, cp.Issue)
	s.NotPushed, s.TriedAt = failed.Text, failed.At
	here, err := c.CurrentBranch()
	s.Here, s.HereKnown, s.Worktree = here, err == nil, c.Store.Root() != ""
	if err := c.Store.Restorer.CheckResume(c.Ctx, cp); err != nil {
		s.NoRestore = err.Error()
	}
}

// OtherAuthor returns the author of a checkpoint if somebody else saved it, else "".
func OtherAuthor(c *invoke.Invocation, cp *gitstore.Checkpoint) string {
	if cp.Author == c.Store.Author() {
		return ""
	}
	return cp.Author
}

// NotHere returns the checkpoints that were saved in parallel and whose files are not here,
// except one that a resume restores. Without an answer, it warns and returns nothing.
func NotHere(c *invoke.Invocation, issue checkpoint.Issue, except checkpoint.ID) []gitstore.NotHere {
	list, err := c.Store.Restorer.NotHere(c.Ctx, issue)
	if err != nil {
		c.Warnf("work that was saved in parallel is not compared: %v", err)
	}
	return slices.DeleteFunc(list, func(n gitstore.NotHere) bool { return n.ID == except && n.ID != "" })
}
