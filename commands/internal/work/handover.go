package work

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/transcript"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// pastNotes returns the newest earlier checkpoints with notes, newest first, if the checkpoint
// itself has no note. The tip is often an automatic checkpoint. The note of a turn is its request,
// which does not count.
func pastNotes(s *view.Standing, l *gitstore.List, line []int) (notes []gitstore.Checkpoint) {
	if s.Record.Note() != "" && s.Record.Trigger() != checkpoint.Turn {
		return nil
	}
	for i := 1; i < len(line) && len(notes) < maxNotes; i++ {
		if cp := l.Checkpoints[line[i]]; cp.Note != "" && cp.Trigger != checkpoint.Turn {
			notes = append(notes, cp)
		}
	}
	return notes
}

// Limits of the lines about earlier checkpoints.
const (
	stepsRead   = 60 // checkpoints
	maxNotes    = 3
	maxRequests = 2
)

// pastRequests returns the requests before the last one, newest first, each with its turn.
func pastRequests(c *invoke.Invocation, s *view.Standing, l *gitstore.List, line []int) (past []checkpoint.AgentTurn) {
	last := s.Record.AgentTurn()
	for i := 1; i < len(line) && len(past) < maxRequests; i++ {
		r, err := c.Store.Record(&l.Checkpoints[line[i]])
		if err != nil {
			break
		}
		if t := r.AgentTurn(); t.Request != "" && t.Request != last.Request {
			past, last = append(past, t), t
		}
	}
	return past
}

// HandOverFacts returns the facts of a prompt that do not depend on the command that prints it.
// reader is the id of the session that reads the prompt, or "".
func HandOverFacts(c *invoke.Invocation, s *view.Standing, reader string) view.PromptMore {
	lineage, line := lineOf(c, s.Checkpoint)
	l := lineage.List
	more := view.PromptMore{
		Session: reader, Last: LastSession(c, s.Checkpoint, s.Record), By: OtherAuthor(c, s.Checkpoint), Attempt: s.Record.PhaseAttempt(), Notes: pastNotes(s, l, line), Parallel: NotHere(c, s.Checkpoint.Issue, s.Checkpoint.ID),
		Titles: progress.PlanTitles(planText(c.Store.Root(), s.Record)), NoRequests: !c.Settings.Bool("hooks.requests"),
	}
	if !more.NoRequests {
		var later []gitstore.Checkpoint
		if len(line) > 0 {
			later = l.Checkpoints[:line[0]]
		}
		more.Unended, more.Requests = unended(c, s, later, more), pastRequests(c, s, l, line)
	}
	if hook.AgentNamed(more.Last.Agent) == nil {
		more.Last.Agent = "" // its name stands outside of the fence
	}
	more.Changed, more.ChangedIn = changedInTurns(c, s, lineage, line)
	return more
}

// unended returns the request of a turn that the last session began after its checkpoint, from the
// transcript in this clone. It returns "" if the session reads the prompt itself, or if it saved a
// later checkpoint, which has the request.
func unended(c *invoke.Invocation, s *view.Standing, later []gitstore.Checkpoint, more view.PromptMore) string {
	t, last := s.Record.AgentTurn(), more.Last
	if last.ID == more.Session || last.Agent == "" || t.Request == "" || last.Transcript == "" {
		return ""
	}
	for i := range later {
		if r, err := c.Store.Record(&later[i]); err != nil || r.Session() == last.ID {
			return ""
		}
	}
	request := ShortRequest(c, transcript.Last(last.Transcript).Request)
	if request == t.Request {
		return ""
	}
	return request
}

// recentTurns is the number of turns whose changes are listed if the record has no resume point
// of its own.
const recentTurns = 5

// changedInTurns returns the files that turns have changed after the resume point was written,
// each with its turns, and the range of these turns. Files that the resume point names come
// first, then those that were changed last.
func changedInTurns(c *invoke.Invocation, s *view.Standing, l *gitstore.Lineage, line []int) (files []string, in string) {
	t := s.Record.AgentTurn()
	since, own := view.PointTurn(s.Record)
	if !own {
		since = max(t.Number-recentTurns, 0)
	}
	turns, last := map[string][]int{}, 0
	var order []string
	for _, i := range line {
		cp := &l.List.Checkpoints[i]
		r, err := c.Store.Record(cp)
		if err != nil {
			break
		}
		n := r.AgentTurn().Open()
		if cp.Trigger == checkpoint.Turn {
			n--
		}
		if n <= since {
			break
		}
		last = max(last, n)
		for _, path := range ChangedBy(c.Store, l, i) {
			if turns[path] == nil {
				order = append(order, path)
			}
			turns[path] = append(turns[path], n)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int {
		return cmp.Compare(mentioned(s.Record.ResumeFrom(), b), mentioned(s.Record.ResumeFrom(), a))
	})
	if t.Number == 0 || len(order) == 0 {
		return nil, ""
	}
	if last == since+1 {
		return view.QuotePaths(order), fmt.Sprintf("turn %d", last)
	}
	for _, path := range order {
		of, word := view.Ranges(turns[path]), "turn "
		if strings.ContainsAny(of, ",-") {
			word = "turns "
		}
		files = append(files, view.QuotePath(path)+" ("+word+of+")")
	}
	return files, fmt.Sprintf("turns %d-%d", since+1, last)
}

// mentioned returns 1 if a text names a path or its last element, else 0.
func mentioned(text, path string) int {
	if strings.Contains(text, path[strings.LastIndexByte(path, '/')+1:]) {
		return 1
	}
	return 0
}

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
		more.Missing, more.Skipped, more.Unsaved = r.Verdict.Files.Restores, r.Verdict.Files.Changed, r.Verdict.Files.Unsaved
	}
	resume := view.IssueArg(r.Checkpoint.Issue)
	if p, err := c.Store.Point(c.Ctx, r.Checkpoint.Issue); err == nil && p.ID != r.Checkpoint.ID { // resume does not choose it by itself
		resume += " " + string(r.Checkpoint.ID)
	}
	after := nextStep(resume, r, err == nil, more) + HowToSave
	return view.Prompt(r, more, c.Env.Now(), HandOverBytes-len(after)) + after
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
