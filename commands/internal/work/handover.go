package work

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/transcript"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// pastNotes returns the newest earlier checkpoints of the branch with notes, newest first,
// if the checkpoint itself has no note. The tip is often an automatic checkpoint. The note
// of a turn is its prompt, which does not count.
func pastNotes(c *invoke.Invocation, s *view.Standing) []gitstore.Checkpoint {
	if s.Record.Note() != "" && s.Record.Trigger() != checkpoint.Turn {
		return nil
	}
	l, err := c.Store.List(c.Ctx, s.Checkpoint.Issue, pastRange)
	if err != nil {
		return nil // the prompt is complete without notes
	}
	at := slices.IndexFunc(l.Checkpoints, func(cp gitstore.Checkpoint) bool { return cp.ID == s.Checkpoint.ID })
	var notes []gitstore.Checkpoint
	for _, cp := range l.Checkpoints[at+1:] {
		if cp.Note != "" && cp.Trigger != checkpoint.Turn && cp.Branch == s.Checkpoint.Branch && len(notes) < maxNotes {
			notes = append(notes, cp)
		}
	}
	return notes
}

// Limits of pastNotes.
const (
	pastRange = 50 // checkpoints
	maxNotes  = 3
)

// HandOverFacts returns the facts of a prompt that do not depend on the command that prints it.
// reader is the id of the session that reads the prompt, or "".
func HandOverFacts(c *invoke.Invocation, s *view.Standing, reader string) view.PromptMore {
	more := view.PromptMore{
		Session: reader, Attempt: s.Record.PhaseAttempt(), Notes: pastNotes(c, s), Parallel: NotHere(c, s.Checkpoint.Issue, s.Checkpoint.ID),
		Titles: planTitles(c, s.Record), NoRequests: !c.Settings.Bool("hooks.requests"),
	}
	if !more.NoRequests {
		more.Unended = unended(c, s.Record, reader)
	}
	more.Changed, more.ChangedIn = changedInTurns(c, s)
	return more
}

// unended returns the request of a turn that the session of a checkpoint began after it, from
// the transcript in this clone. It returns "" if another session saved the checkpoint, or if
// reader is that session.
func unended(c *invoke.Invocation, r *checkpoint.Record, reader string) string {
	t := r.AgentTurn()
	s, ok := sessions.Of(c.Store.Notes, r.Session(), reader)
	if !ok || t.Agent == "" || t.Request == "" || s.Transcript == "" {
		return ""
	}
	request := ShortRequest(c, transcript.Last(s.Transcript).Request)
	if request == t.Request {
		return ""
	}
	return request
}

// Limits of the line about the files that turns have changed.
const (
	turnsRead   = 60 // checkpoints
	recentTurns = 5  // if the record has no resume point of its own
)

// changedInTurns returns the files that turns have changed after the resume point was written,
// each with its turns, and the range of these turns. Files that the resume point names come
// first, then those that were changed last.
func changedInTurns(c *invoke.Invocation, s *view.Standing) (files []string, in string) {
	t, since := s.Record.AgentTurn(), view.PointTurn(s.Record)
	if since == 0 {
		since = max(t.Number-recentTurns, 0)
	}
	if t.Number <= since {
		return nil, ""
	}
	turns := map[string][]int{}
	var order []string
	list := ofBranch(c, s.Checkpoint)
	for i := 0; i+1 < len(list); i++ {
		r, err := c.Store.Record(&list[i])
		if err != nil {
			break
		}
		n := r.AgentTurn().Number
		if list[i].Trigger != checkpoint.Turn {
			n++
		}
		if n <= since {
			break
		}
		for _, path := range c.Store.Files.ChangedBetween(&list[i+1], &list[i]) {
			if turns[path] == nil {
				order = append(order, path)
			}
			turns[path] = append(turns[path], n)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int {
		return cmp.Compare(mentioned(s.Record.ResumeFrom(), b), mentioned(s.Record.ResumeFrom(), a))
	})
	for _, path := range order {
		word := "turns "
		if slices.Sort(turns[path]); len(slices.Compact(turns[path])) == 1 {
			word = "turn "
		}
		files = append(files, view.QuotePath(path)+" ("+word+view.Ranges(slices.Compact(turns[path]))+")")
	}
	if since+1 == t.Number {
		return files, fmt.Sprintf("turn %d", t.Number)
	}
	return files, fmt.Sprintf("turns %d-%d", since+1, t.Number)
}

// ofBranch returns a checkpoint and those before it on its branch, newest first.
func ofBranch(c *invoke.Invocation, cp *gitstore.Checkpoint) []gitstore.Checkpoint {
	l, err := c.Store.List(c.Ctx, cp.Issue, turnsRead)
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(l.Checkpoints, func(other gitstore.Checkpoint) bool { return other.ID == cp.ID })
	if at < 0 {
		return nil
	}
	return slices.DeleteFunc(l.Checkpoints[at:], func(other gitstore.Checkpoint) bool { return other.Branch != cp.Branch })
}

// planTitles returns the titles of the phases in the plan of a record, from the worktree.
func planTitles(c *invoke.Invocation, r *checkpoint.Record) map[string]string {
	if r.PlanPath() == "" || c.Store.Root() == "" {
		return nil
	}
	f, err := invoke.OpenPlain(c, r.PlanPath())
	if err != nil || f.Size > maxPlan {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPlan))
	if err != nil {
		return nil
	}
	return progress.PlanTitles(string(data))
}

// mentioned returns 1 if a text names a path or its last element, else 0.
func mentioned(text, path string) int {
	if strings.Contains(text, path[strings.LastIndexByte(path, '/')+1:]) {
		return 1
	}
	return 0
}
