package work

import (
	"cmp"
	"path/filepath"
	"slices"
	"sync"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/sessions"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/fsutil"
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
	s.Session = LastSession(c, cp, s.Record)
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

// lineOf returns the lineage of the newest checkpoints of an issue, and the indexes of a checkpoint
// and of those that its files came from, newest first.
func lineOf(c *invoke.Invocation, cp *gitstore.Checkpoint) (*gitstore.Lineage, []int) {
	l, err := c.Store.List(c.Ctx, cp.Issue, stepsRead)
	if err != nil {
		l = &gitstore.List{} // outputs are complete without earlier checkpoints
	}
	lineage := c.Store.Lineage(c.Ctx, l)
	return lineage, lineage.To(slices.IndexFunc(l.Checkpoints, func(o gitstore.Checkpoint) bool { return o.ID == cp.ID }))
}

// LastSession returns the session of the agent that saved a checkpoint, or the newest one before
// it, first of those that its files came from: a save by hand does not end a conversation. Without such
// a session, the result is zero.
func LastSession(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record) view.Session {
	if s := sessionOf(c, cp, r, ""); s.ID != "" {
		return s
	}
	lineage, line := lineOf(c, cp)
	for i := 1; len(line) > 0 && line[0]+i < len(lineage.List.Checkpoints); i++ {
		line = append(line, line[0]+i) // also those of other branches
	}
	for _, i := range line {
		past := &lineage.List.Checkpoints[i]
		if past.Agent == "" && past.Trigger != checkpoint.Turn {
			continue // not saved by a hook
		}
		r, err := c.Store.Record(past)
		if err != nil {
			break
		}
		if s := sessionOf(c, past, r, " ("+view.Ago(past.Created, c.Env.Now())+")"); s.ID != "" {
			return s
		}
	}
	return view.Session{}
}

// sessionOf returns the session of the agent that saved a checkpoint, or a zero value.
func sessionOf(c *invoke.Invocation, cp *gitstore.Checkpoint, r *checkpoint.Record, age string) view.Session {
	found, known := sessions.Read(c.Store.Notes, r.Session())
	t := r.AgentTurn()
	if !known && (t.Agent == "" || t.Hand) {
		return view.Session{}
	}
	s := view.Session{ID: r.Session(), Agent: cmp.Or(found.Agent, t.Agent), Transcript: found.Transcript, Command: found.Command(), At: cp.Created, Age: age}
	if known {
		s.Text = s.ID
		if s.Agent != "" {
			s.Text += " of " + s.Agent
		}
		if s.Text += age; s.Command != "" {
			s.Text += ", continue it with: " + s.Command
		}
	}
	return s
}

// OtherAuthor returns the author of a checkpoint if somebody else saved it, else "".
func OtherAuthor(c *invoke.Invocation, cp *gitstore.Checkpoint) string {
	if cp.Author == c.Store.Author() {
		return ""
	}
	return cp.Author
}

// NotHere returns the checkpoints that were saved in parallel and whose files are not here, except one
// that a resume restores. If a stash or a reset took work away before that one, it returns the
// checkpoint with the work too. Without an answer, it warns and returns nothing.
func NotHere(c *invoke.Invocation, issue checkpoint.Issue, except checkpoint.ID) []gitstore.NotHere {
	list, err := c.Store.Restorer.NotHere(c.Ctx, issue)
	if err != nil {
		c.Warnf("work that was saved in parallel is not compared: %v", err)
	}
	list = slices.DeleteFunc(list, func(n gitstore.NotHere) bool { return n.ID == except && n.ID != "" })
	if aside := setAside(c, issue, except); aside != nil {
		list = append(list, *aside)
	}
	return list
}

// setAside returns the newest checkpoint before another one that has uncommitted files on the same HEAD
// which the other one and this worktree lack, if a checkpoint without uncommitted files follows it. If this
// clone has saved that one, the files have to be in a stash, or a reset took them away.
func setAside(c *invoke.Invocation, issue checkpoint.Issue, id checkpoint.ID) *gitstore.NotHere {
	l, err := c.Store.List(c.Ctx, issue, stepsRead)
	at := -1
	if err == nil && id != "" {
		at = slices.IndexFunc(l.Checkpoints, func(cp gitstore.Checkpoint) bool { return cp.ID == id })
	}
	if at < 0 {
		return nil
	}
	uncommitted := sync.OnceValues(func() ([]string, error) { return c.Store.Files.Uncommitted(c.Ctx) })
	head, later := "", map[string]bool{}
	var clean *gitstore.Checkpoint
	for i := range l.Checkpoints[at:] {
		cp := &l.Checkpoints[at+i]
		r, err := c.Store.Record(cp)
		if err != nil || i > 0 && r.Snapshot().Head != head || cp.Branch != l.Checkpoints[at].Branch {
			return nil // a commit can have the files
		}
		head = r.Snapshot().Head
		var gone []string
		for _, f := range r.Files() {
			isIgnored := (f.Status == "untracked" || f.Status == "added") && fsutil.Exists(filepath.Join(c.Store.Root(), filepath.FromSlash(f.Path)))
			if !later[f.Path] && clean != nil && !isIgnored {
				gone = append(gone, f.Path)
			}
			later[f.Path] = true
		}
		if clean == nil && len(r.Files()) == 0 {
			clean = cp
		}
		if len(gone) == 0 {
			continue
		}
		here, err := uncommitted()
		gone = slices.DeleteFunc(gone, func(path string) bool { return err != nil || slices.Contains(here, path) })
		if len(gone) > 0 && c.Store.Facts.SavedHere(c.Ctx, clean) {
			gone = c.Store.TakenAway(c.Ctx, cp, head, gone)
		}
		if len(gone) > 0 {
			return &gitstore.NotHere{Checkpoint: *cp, Files: gone, Aside: true}
		}
	}
	return nil
}

// AgentOf returns the agent of a session, or "" if this clone has no record of it.
func AgentOf(c *invoke.Invocation, session string) string {
	found, _ := sessions.Read(c.Store.Notes, session)
	return found.Agent
}

// ChangedBy returns the paths that the checkpoint at an index changed, since the checkpoint that
// its files came from or since HEAD at the save. It returns nil if that is unknown.
func ChangedBy(s *gitstore.Store, l *gitstore.Lineage, i int) (paths []string) {
	at := &l.List.Checkpoints[i]
	from, known := l.Before(i)
	if from != nil {
		return s.Restorer.ChangedBetween(from, at)
	}
	r, err := s.Record(at)
	if err != nil || !known {
		return nil
	}
	for _, f := range r.Files() {
		paths = append(paths, f.Path)
	}
	return paths
}

// StoryRecords returns a function that returns the newest record of a story, or nil if the
// story has no readable record. The refs of the repository are listed once.
func StoryRecords(c *invoke.Invocation) func(id string) *checkpoint.Record {
	issues, _, _ := c.Store.Issues(c.Ctx, false)
	left := 200 // stories whose own records are read
	return func(id string) *checkpoint.Record {
		issue, err := checkpoint.ParseIssue(id)
		if err != nil || left == 0 || !slices.Contains(issues, issue) {
			return nil
		}
		left--
		_, r, err := c.Store.PointRecord(c.Ctx, issue)
		if err != nil {
			return nil
		}
		return r
	}
}

// JoinStories returns the record of a pipeline's lead joined with the records of its stories
// (story.Joined), and the standings of these stories. It returns every other record unchanged.
func JoinStories(c *invoke.Invocation, r *checkpoint.Record) (*checkpoint.Record, []story.Standing) {
	if r == nil || !story.IsLead(r) || story.IsComplete(r) {
		return r, nil
	}
	all := story.Join(r, StoryRecords(c))
	return story.Joined(r, all), all
}
