package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// An Entry is a checkpoint in a timeline, or a run of automatic checkpoints. The list, its JSON
// record and the page show the same entry. Texts are not cleaned.
type Entry struct {
	Checkpoint *gitstore.Checkpoint // of a run: the newest
	Run        int                  // number of checkpoints of a run, 0 for a single checkpoint
	Title      string               // the work, or the event that led to the checkpoint
	Event      string               // the event that led to the checkpoint
	Problem    string               // reason why the checkpoint is unusable, or ""
	By         string               // author, if it is another person
	Turn       int                  // number of an agent's turn, with Entries.Agent, 0 if unknown
	Session    string               // session of the turn
	Agent      string               // agent of the session, or ""
	Files      []string             // files that the turn changed, with Entries.Files
	Usage      []checkpoint.Spent   // tokens of the turn by model, nil if unknown
	Change     *gitstore.Totals     // since the checkpoint before it, nil if unknown: see Lineage

	Tip       bool // newest of its issue, and not archived
	Resumable bool
	Stale     bool // too old, or from the future
}

// Entries has what the entries of timelines need.
type Entries struct {
	Me     string // author of new commits
	Now    time.Time
	Record func(*gitstore.Checkpoint) *checkpoint.Record // nil function: read no records
	Totals func([]gitstore.Pair) []*gitstore.Totals      // nil function: compare no files
	Agent  func(session string) string                   // nil function: show no turns
	Files  func(l *gitstore.Lineage, i int) []string     // nil function: name no files

	Lineage func(*gitstore.List) *gitstore.Lineage // nil function: names of branches are not followed
}

// Who returns the turn and its agent, such as "turn 7, claude", or "" if the entry is no turn.
func (e *Entry) Who() string {
	if e.Turn == 0 {
		return ""
	}
	return turnName(e.Turn, e.Agent)
}

// Work returns the title beside Who: the request of a turn, or without a request its changed files.
func (e *Entry) Work() string {
	note := FirstLine(strings.TrimSpace(e.Checkpoint.Note))
	switch {
	case e.Turn == 0:
		return e.Title
	case note == "" && len(e.Files) > 0:
		return "Changed " + List(Few(QuotePaths(e.Files), 3))
	}
	return cmp.Or(note, e.Title)
}

// Of returns an entry for each run of checkpoints of a list. A run has indexes of the list,
// newest first.
func (s Entries) Of(l *gitstore.List, runs [][]int) []Entry {
	entries := make([]Entry, len(runs))
	var pairs []gitstore.Pair
	var at []int
	lineage := &gitstore.Lineage{List: l}
	if s.Lineage != nil {
		lineage = s.Lineage(l)
	}
	for k, run := range runs {
		entries[k] = s.Single(l, run[0])
		if s.Files != nil && entries[k].Turn > 0 {
			entries[k].Files = s.Files(lineage, run[0])
		}
		if len(run) > 1 {
			e := &entries[k]
			members := make([]gitstore.Checkpoint, len(run))
			for m, i := range run {
				members[m] = l.Checkpoints[i]
			}
			e.Run, e.Turn, e.Session, e.Agent, e.Files, e.Usage, e.By = len(run), 0, "", "", nil, nil, ""
			e.Title = strings.TrimSuffix(RunTitle(members)+": "+FirstLine(e.Checkpoint.Note), ": ")
		}
		if from, known := lineage.Before(run[len(run)-1]); known && s.Totals != nil && entries[k].Problem == "" {
			pairs, at = append(pairs, gitstore.Pair{From: from, To: entries[k].Checkpoint}), append(at, k)
		}
	}
	if len(pairs) > 0 {
		for k, total := range s.Totals(pairs) {
			entries[at[k]].Change = total
		}
	}
	return entries
}

// Single returns the entry of a checkpoint without its change.
func (s Entries) Single(l *gitstore.List, i int) Entry {
	cp := &l.Checkpoints[i]
	e := Entry{Checkpoint: cp, Problem: Problem(cp), Tip: i == 0 && !cp.Archived}
	e.Resumable = cp.Resumable && e.Problem == ""
	e.Stale = s.Now.Sub(cp.Created) > freshness.DefaultMaxAge || cp.Created.Sub(s.Now) > freshness.DefaultTolerance
	if cp.Author != s.Me {
		e.By = cp.Author
	}
	r, before := s.records(l, i)
	e.Title, e.Event = Title(cp, r, before), Event(cp, r)
	if s.Agent != nil && cp.Trigger == checkpoint.Turn && r != nil {
		if t := r.AgentTurn(); !t.Hand {
			e.Turn, e.Session, e.Agent, e.Usage = t.Number, r.Session(), t.Agent, t.Usage
			if e.Agent == "" {
				e.Agent = s.Agent(e.Session)
			}
		}
	}
	return e
}

// records returns the records that the title of a checkpoint needs, or nil. A checkpoint with a
// note needs no record, except for its session.
func (s Entries) records(l *gitstore.List, i int) (own, before *checkpoint.Record) {
	cp := &l.Checkpoints[i]
	session := s.Agent != nil && cp.Trigger == checkpoint.Turn
	if s.Record == nil || Problem(cp) != "" || cp.Note != "" && !session {
		return nil, nil
	}
	own = s.Record(cp)
	if cp.Note == "" && own != nil && own.Doc().Text("context_summary") != "" && i+1 < len(l.Checkpoints) {
		before = s.Record(&l.Checkpoints[i+1])
	}
	return own, before
}

// All returns the indexes of all checkpoints of a list.
func All(l *gitstore.List) []int {
	all := make([]int, len(l.Checkpoints))
	for i := range all {
		all[i] = i
	}
	return all
}

// Singles returns a run for each checkpoint.
func Singles(picked []int) [][]int {
	runs := make([][]int, len(picked))
	for k := range picked {
		runs[k] = picked[k : k+1]
	}
	return runs
}

// Problem returns the reason why a checkpoint is unusable, or "": a problem of its commit,
// or of its record if the caller has read the record.
func Problem(cp *gitstore.Checkpoint) string {
	if cp.Later() {
		return "version " + cp.Version + ", needs an upgrade"
	}
	return cp.Problem
}

// ChangedLines returns the changed lines, such as "+12 -4", or "" if they are unknown.
func ChangedLines(n *gitstore.Totals) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("+%d -%d", n.Added, n.Deleted)
}

// ChangedFiles returns the changed files and lines, such as "3 files +12 -4", or "" if nothing
// changed.
func ChangedFiles(n *gitstore.Totals) string {
	if n == nil || n.Files == 0 {
		return ""
	}
	return Plural(n.Files, "file") + " " + ChangedLines(n)
}

// SessionName returns the first digits of a session's id and its agent, such as
// "0d5a0e0e (claude)". It returns "" without a session.
func SessionName(session, agent string) string {
	name := session[:min(len(session), 8)]
	if agent != "" {
		name += " (" + agent + ")"
	}
	return name
}

// Line returns the line of an entry for scripts.
func (e *Entry) Line(now time.Time) string {
	cp := e.Checkpoint
	marks := []byte("     ")
	for i, on := range []bool{e.Tip, cp.Archived, cp.Pinned, e.Resumable, e.Problem != ""} {
		if on {
			marks[i] = "*apr!"[i]
		}
	}
	what := words(cmp.Or(string(cp.Trigger), "?"), number(e.Turn))
	if cp.Phase != "" {
		what += " in " + cp.Phase
	}
	about := strings.TrimSpace(ChangedLines(e.Change) + " " + List(Few(QuotePaths(e.Files), 3)))
	if e.Session != "" {
		about = strings.TrimPrefix(about+", session "+SessionName(e.Session, e.Agent), ", ")
	}
	if used := TokensText(checkpoint.SumOf(e.Usage)); used != "" {
		about = strings.TrimPrefix(about+", "+used, ", ")
	}
	if about != "" {
		what += " " + about
	}
	leftOut := ""
	if cp.Omitted > 0 {
		leftOut = "files left out"
	}
	for _, remark := range []string{e.Problem, leftOut, DoubleText(cp)} {
		if remark != "" {
			what += " (" + remark + ")"
		}
	}
	if cp.Filed.Why != "" {
		what += fmt.Sprintf(" (%s, archived %s)", ArchivedAs(cp), Ago(cp.Filed.At, now))
	}
	line := fmt.Sprintf("%s %s  %s  %s", marks, cp.Name(), Ago(cp.Created, now), what+ByText(e.By))
	if note := FirstLine(cp.Note); note != "" {
		line += ": " + note
	}
	return Clean(line)
}

// DoubleText returns the remark on a checkpoint whose id has another content too, or "".
func DoubleText(cp *gitstore.Checkpoint) string {
	switch in := strings.Join(cp.Twins, ", "); {
	case cp.Unclear:
		return "one of several contents of this id, commit " + cp.Commit.String() + ", beside " + in
	case cp.Double && in != "":
		return "another content has this id: commit " + in
	case cp.Double:
		return "another content has this id"
	}
	return ""
}

// ListedRecord returns the JSON record of a checkpoint in a list.
func ListedRecord(cp *gitstore.Checkpoint) Listed {
	problem := Problem(cp)
	return Listed{
		CheckpointID: string(cp.ID), Issue: string(cp.Issue), Commit: cp.Commit.String(), CreatedAt: cp.Created, ImportedAt: cp.Imported(),
		Trigger: string(cp.Trigger), Phase: cp.Phase, Branch: cp.Branch, CanResume: cp.Resumable && problem == "",
		Pinned: cp.Pinned, Archived: cp.Archived, Valid: problem == "", LeftOut: cp.Omitted > 0, Double: cp.Double, OtherCommits: cp.Twins, Note: cp.Note, SavedBy: cp.Author,
	}
}

// ListRow returns the JSON record of an entry.
func (e *Entry) ListRow() ListRow {
	row := ListRow{Listed: ListedRecord(e.Checkpoint), SessionID: e.Session, SessionAgent: e.Agent, Files: QuotePaths(e.Files)}
	if e.Turn > 0 {
		row.Turn = &e.Turn
	}
	for _, s := range e.Usage {
		s.Agent, s.Phase = e.Agent, e.Checkpoint.Phase
		row.Usage = append(row.Usage, s)
	}
	if n := e.Change; n != nil {
		row.FilesChanged, row.LinesAdded, row.LinesDeleted = &n.Files, &n.Added, &n.Deleted
	}
	return row
}

// ArchivedAs returns the reason of the archival of a checkpoint, such as "adopted into 42".
func ArchivedAs(cp *gitstore.Checkpoint) string {
	if source, _ := cp.Issue.ForkSource(); cp.Filed.Why == retention.ReasonAdopted && source != "" {
		return "adopted into " + string(source)
	}
	return string(cp.Filed.Why)
}
