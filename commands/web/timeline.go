package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// PageSize is the number of checkpoints per timeline page.
const PageSize = 100

// A TimelineEntry is a checkpoint in a timeline.
type TimelineEntry struct {
	ID, Short, Commit string
	Trigger, Mark     string // Mark is milestone, batch, agent, stop or other
	Phase, Branch     string
	Note              string // first line of the note
	At                Stamp
	URL, Diff         string

	Tip, Pinned, Resumable, Old, Archived bool

	Problem string // reason why the checkpoint is invalid, or ""
}

// A Group holds consecutive checkpoints with the same phase.
type Group struct {
	Phase   string
	Span    string // time range, oldest to newest
	Entries []TimelineEntry
}

// A Timeline is one page of an issue's checkpoints, newest first.
type Timeline struct {
	Groups       []Group
	Shown        string // description of the shown range
	Newer, Older string // URLs of adjacent pages, or ""
	Found        int    // number of matching checkpoints
	Partly       bool   // Found is incomplete, because older checkpoints were not read
}

// A Filter selects shown checkpoints. The zero value selects all.
type Filter struct {
	Text, Phase, Trigger string
	Only                 string // pinned, resumable, invalid, or "" for any
	Page                 int    // 1-based
}

// parseFilter parses a filter from a URL query. Texts are compared in cleaned form.
// Unknown parameters are ignored.
func parseFilter(q url.Values) Filter {
	clip := func(name string) string { return line(cut(strings.TrimSpace(q.Get(name)), maxLine)) }
	f := Filter{Text: clip("q"), Phase: clip("phase"), Trigger: clip("trigger"), Only: clip("only"), Page: 1}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 1 && n < 1<<20 {
		f.Page = n
	}
	return f
}

// Any reports whether the filter excludes any checkpoints.
func (f Filter) Any() bool { return f.Text+f.Phase+f.Trigger+f.Only != "" }

// query returns the filter as a URL query.
func (f Filter) query(page int) string {
	q := url.Values{}
	for name, value := range map[string]string{"q": f.Text, "phase": f.Phase, "trigger": f.Trigger, "only": f.Only} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// keeps reports whether the filter selects a checkpoint.
func (f Filter) keeps(c *gitstore.Checkpoint) bool {
	switch f.Only {
	case "pinned":
		if !c.Pinned {
			return false
		}
	case "resumable":
		if !c.Resumable || !c.Valid() {
			return false
		}
	case "invalid":
		if c.Valid() {
			return false
		}
	}
	return (f.Phase == "" || line(cut(c.Phase, maxLine)) == f.Phase) && (f.Trigger == "" || string(c.Trigger) == f.Trigger) &&
		(f.Text == "" || contains(f.Text, string(c.ID), c.Note, c.Phase, string(c.Trigger), c.Branch))
}

// contains searches strings for text, ignoring case.
func contains(text string, in ...string) bool {
	text = strings.ToLower(text)
	for _, s := range in {
		if strings.Contains(strings.ToLower(line(s)), text) {
			return true
		}
	}
	return false
}

// A view holds parameters of a timeline.
type view struct {
	links links
	base  string // URL of the timeline
	now   time.Time
	old   time.Duration // age above which checkpoints are marked old
	size  int           // checkpoints per page
}

// timeline returns the page selected by a filter.
func (v view) timeline(l *gitstore.List, f Filter) Timeline {
	kept := make([]int, 0, v.size)
	found, from := 0, (f.Page-1)*v.size
	for i := range l.Checkpoints {
		if !f.keeps(&l.Checkpoints[i]) {
			continue
		}
		if found >= from && len(kept) < v.size {
			kept = append(kept, i)
		}
		found++
	}
	t := Timeline{Found: found, Partly: !l.Complete, Groups: v.groups(l, kept)}
	if f.Page > 1 {
		t.Newer = v.base + f.query(f.Page-1)
	}
	if from+len(kept) < found || !l.Complete && len(kept) == v.size {
		t.Older = v.base + f.query(f.Page+1)
	}
	t.Shown = shown(from, len(kept), t)
	return t
}

// shown describes the range of checkpoints on a page.
func shown(from, n int, t Timeline) string {
	switch {
	case n == 0:
		return "none"
	case n == t.Found && !t.Partly:
		return count(n, "checkpoint")
	case t.Partly:
		return "the newest " + thousands(n)
	}
	return thousands(from+1) + "\u2013" + thousands(from+n) + " of " + count(t.Found, "checkpoint")
}

// groups groups consecutive checkpoints by phase.
func (v view) groups(l *gitstore.List, kept []int) []Group {
	var groups []Group
	for at := 0; at < len(kept); {
		end, phase := at, l.Checkpoints[kept[at]].Phase
		for end < len(kept) && l.Checkpoints[kept[end]].Phase == phase {
			end++
		}
		g := Group{Phase: line(cut(phase, maxLine))}
		for _, i := range kept[at:end] {
			g.Entries = append(g.Entries, v.entry(&l.Checkpoints[i], i == 0))
		}
		g.Span = span(l.Checkpoints[kept[end-1]].Created, l.Checkpoints[kept[at]].Created)
		groups = append(groups, g)
		at = end
	}
	return groups
}

func (v view) entry(c *gitstore.Checkpoint, tip bool) TimelineEntry {
	id := string(c.ID)
	if id == "" {
		id = c.Commit.String()
	}
	return TimelineEntry{
		ID: line(id), Short: short(id), Commit: c.Commit.String(),
		Trigger: line(string(c.Trigger)), Mark: markOf(c.Trigger), Phase: line(cut(c.Phase, maxLine)), Branch: line(cut(c.Branch, maxLine)),
		Note: firstLine(c.Note), At: stamp(c.Created, v.now),
		URL: v.links.checkpoint(c), Diff: v.links.below(c, "diff"),
		Tip: tip && !c.Archived, Pinned: c.Pinned, Resumable: c.Resumable && c.Valid(),
		Old: v.old > 0 && v.now.Sub(c.Created) > v.old, Archived: c.Archived,
		Problem: line(c.Problem),
	}
}

// span formats a time range.
func span(from, to time.Time) string {
	from, to = from.UTC(), to.UTC()
	const day, at = "2 Jan 2006", "15:04"
	switch {
	case from.IsZero() || to.IsZero():
		return ""
	case from.Format(day+at) == to.Format(day+at):
		return to.Format(day + ", " + at)
	case from.Format(day) == to.Format(day):
		return to.Format(day) + ", " + from.Format(at) + "\u2013" + to.Format(at)
	}
	return from.Format(day) + " \u2013 " + to.Format(day)
}

// markOf returns the category of a trigger.
func markOf(t checkpoint.Trigger) string {
	switch t {
	case checkpoint.PhaseTransition, checkpoint.Manual, checkpoint.ConflictStart, checkpoint.ConflictResolved:
		return "milestone"
	case checkpoint.BatchComplete, checkpoint.BatchStart:
		return "batch"
	case checkpoint.AgentComplete, checkpoint.BeforeAgent, checkpoint.BeforeParallel, checkpoint.TaskUpdate:
		return "agent"
	case checkpoint.UserInterrupt, checkpoint.SessionEnd, checkpoint.Interval, checkpoint.Turn:
		return "stop"
	}
	return "other"
}
