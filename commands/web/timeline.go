package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// PageSize is the number of checkpoints per timeline page.
const PageSize = 40

// A TimelineEntry is an entry of a timeline as the page shows it.
type TimelineEntry struct {
	view.Entry
	ID, Short, Commit string
	Title             string // the work, or the event that led to the checkpoint
	Tokens            string // tokens of the turn, or ""
	Mark              string // milestone, batch, agent, hand, stop or other
	Phase, Branch     string
	Elsewhere         string // Branch, if it is not the branch of the newest checkpoint
	At                Stamp
	URL               string
	Issue, IssueURL   string // set in a timeline of several issues
	Back              string // URL that asks whether to go back to this checkpoint, or ""
	Compare           Link   // selects the checkpoint for a comparison, or completes it
	Chosen            bool   // selected for a comparison
	Pinned, Archived  bool
	Double            string // see view.DoubleText
}

type Link struct{ Text, URL string }

// A TimelineRow is one checkpoint, or a run of automatic checkpoints: the newest one, with the title
// and the change of all.
type TimelineRow struct {
	TimelineEntry
	Run  []TimelineEntry // none for a single checkpoint
	Open bool            // a checkpoint of the run is selected for a comparison
}

// A Group holds consecutive checkpoints with the same phase, or of the same day.
type Group struct {
	Phase string
	Count int
	Span  string // time range, oldest to newest
	Rows  []TimelineRow
}

// A Timeline is one page of an issue's checkpoints, newest first.
type Timeline struct {
	Groups       []Group
	Shown        string // description of the shown range
	Newer, Older string // URLs of adjacent pages, or ""
	Found        int    // number of matching checkpoints
	Partly       bool   // Found is incomplete, because older checkpoints were not read
	Phases       bool   // groups have the phase as their heading
}

// A Filter selects shown checkpoints. The zero value selects all.
type Filter struct {
	Text           string // in note, request, answer, decisions, summary or id
	Path, Content  string // changed files as a pathspec, and text that a change adds or removes
	Phase, Trigger string
	Only           string // pinned, resumable, invalid, or "" for any
	Compare        string // checkpoint that is selected for a comparison
	Page           int    // 1-based
}

// parseFilter parses a filter from a URL query. Texts are compared in cleaned form, changes not.
// Unknown parameters are ignored.
func parseFilter(q url.Values) Filter {
	clip := func(name string) string { return view.Clean(firstLine(strings.TrimSpace(q.Get(name)))) }
	f := Filter{Text: clip("q"), Path: firstLine(q.Get("path")), Content: firstLine(q.Get("content")), Phase: clip("phase"), Trigger: clip("trigger"), Only: clip("only"), Compare: clip("compare"), Page: 1}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 1 && n < 1<<20 {
		f.Page = n
	}
	return f
}

// Any reports whether the filter excludes any checkpoints.
func (f Filter) Any() bool {
	return f.Text+f.Path+f.Content+f.Phase+f.Trigger+f.Only != ""
}

// whole reports whether the filter needs the whole chain.
func (f Filter) whole() bool { return f.Any() || f.Compare != "" || f.Page > 1 }

func (f Filter) query(page int) string {
	q := url.Values{}
	for name, value := range map[string]string{"q": f.Text, "path": f.Path, "content": f.Content, "phase": f.Phase, "trigger": f.Trigger, "only": f.Only, "compare": f.Compare} {
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

// A search looks for the texts of a filter, as list --grep, --path and --content do.
type search struct {
	Filter
	hasText func(c *gitstore.Checkpoint, text string) bool // nil: only the note is searched
	changed func(*gitstore.Checkpoint) bool                // nil: changes are not searched
	err     error                                          // of changed
}

func (v *visit) search(f Filter) *search {
	s := &search{Filter: f, hasText: func(c *gitstore.Checkpoint, text string) bool { return work.HasText(v.repo.Store, c, text) }}
	q := gitstore.ChangeQuery{Content: f.Content}
	if f.Path != "" {
		q.Paths = []string{f.Path}
	}
	s.changed = work.ChangeFilter(v.ctx, v.repo.Store, q, func(err error) { s.err = err })
	return s
}

func (s *search) finds(c *gitstore.Checkpoint) bool {
	selected := true
	switch s.Only {
	case "pinned":
		selected = c.Pinned
	case "resumable":
		selected = c.Resumable && c.Valid()
	case "invalid":
		selected = !c.Valid()
	}
	switch {
	case !selected, s.Phase != "" && shownPhase(c) != s.Phase, s.Trigger != "" && string(c.Trigger) != s.Trigger,
		s.Text != "" && !contains(s.Text, string(c.ID), c.Note, c.Branch) && (s.hasText == nil || !s.hasText(c, s.Text)):
		return false
	}
	return s.changed == nil || s.changed(c)
}

// shownPhase returns the name of a checkpoint's phase as pages and filters have it.
func shownPhase(c *gitstore.Checkpoint) string { return view.Clean(firstLine(c.Phase)) }

func contains(text string, in ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(in, func(s string) bool { return strings.Contains(strings.ToLower(view.Clean(s)), text) })
}

// A pager holds parameters of a timeline.
type pager struct {
	links   links
	write   bool   // rows offer the way back to their checkpoint
	many    bool   // rows name their issue, because the timeline is of several
	base    string // URL of the timeline
	size    int    // checkpoints per page
	entries view.Entries
}

// timeline returns the page that a search selects.
func (v pager) timeline(l *gitstore.List, s *search) Timeline {
	f, kept := s.Filter, make([]int, 0, v.size)
	found, from := 0, (f.Page-1)*v.size
	for i := range l.Checkpoints {
		if !s.finds(&l.Checkpoints[i]) {
			continue
		}
		if found >= from && len(kept) < v.size {
			kept = append(kept, i)
		}
		found++
	}
	t := Timeline{Found: found, Partly: !l.Complete, Groups: v.groups(l, f, kept), Phases: true}
	if f.Page > 1 {
		t.Newer = v.base + f.query(f.Page-1)
	}
	if from+len(kept) < found || !l.Complete && len(kept) == v.size {
		t.Older = v.base + f.query(f.Page+1)
	}
	t.Shown = shown(from, len(kept), t)
	return t
}

func shown(from, n int, t Timeline) string {
	switch {
	case n == 0:
		return "none"
	case n == t.Found && !t.Partly:
		return view.Plural(n, "checkpoint")
	case t.Partly:
		return fmt.Sprint("the newest ", n)
	}
	return fmt.Sprintf("%d\u2013%d of %s", from+1, from+n, view.Plural(t.Found, "checkpoint"))
}

// runs returns runs of automatic checkpoints, or single checkpoints if the filter selects some.
func (f Filter) runs(l *gitstore.List, kept []int) [][]int {
	if f.Any() {
		return view.Singles(kept)
	}
	return view.Runs(l.Checkpoints, kept)
}

func (v pager) groups(l *gitstore.List, f Filter, kept []int) []Group {
	runs := f.runs(l, kept)
	rows := v.rows(l, f, runs)
	var groups []Group
	for at := 0; at < len(runs); {
		phase := l.Checkpoints[runs[at][0]].Phase
		g := Group{Phase: shownPhase(&l.Checkpoints[runs[at][0]])}
		newest := l.Checkpoints[runs[at][0]].Created
		oldest := newest
		for at < len(runs) && l.Checkpoints[runs[at][0]].Phase == phase {
			g.Rows = append(g.Rows, rows[at])
			g.Count += len(runs[at])
			oldest = l.Checkpoints[runs[at][len(runs[at])-1]].Created
			at++
		}
		g.Span = span(oldest, newest)
		groups = append(groups, g)
	}
	return groups
}

// rows returns the rows of runs of checkpoints, given by their indexes. The row of a run has the
// entries of its checkpoints too.
func (v pager) rows(l *gitstore.List, f Filter, runs [][]int) []TimelineRow {
	all := slices.Clone(runs)
	for _, run := range runs {
		if len(run) > 1 {
			all = append(all, view.Singles(run)...)
		}
	}
	entries := v.entries.Of(l, all)
	heads, members := entries[:len(runs)], entries[len(runs):]
	rows := make([]TimelineRow, len(runs))
	for k, run := range runs {
		rows[k].TimelineEntry = v.listed(l, f, run[0], &heads[k])
		if len(run) == 1 {
			continue
		}
		for n, i := range run {
			e := v.listed(l, f, i, &members[n])
			rows[k].Run, rows[k].Open = append(rows[k].Run, e), rows[k].Open || e.Chosen
		}
		members = members[len(run):]
	}
	return rows
}

func (v pager) listed(l *gitstore.List, f Filter, i int, of *view.Entry) TimelineEntry {
	c, e := of.Checkpoint, v.entry(of)
	if v.many {
		e.Issue, e.IssueURL = issueLabel(l.Issue), v.links.issue(l.Issue)
	} else if e.Branch != l.Checkpoints[0].Branch {
		e.Elsewhere = e.Branch
	}
	if v.links.file || c.ID == "" || v.base == "" {
		return e
	}
	chosen := indexOf(l, f.Compare)
	switch {
	case f.Compare == "" || chosen < 0:
		with := f
		with.Compare = nameOf(c)
		e.Compare = Link{"Compare", v.base + with.query(f.Page) + "#c-" + e.Commit}
	case chosen == i:
		e.Chosen = true
	default:
		to, from := c, &l.Checkpoints[chosen]
		if i > chosen {
			to, from = from, to
		}
		e.Compare = Link{"Compare with this", v.links.below(to, "diff") + "?" + url.Values{"against": {nameOf(from)}}.Encode()}
	}
	return e
}

func (v pager) entry(of *view.Entry) TimelineEntry {
	c := of.Checkpoint
	e := TimelineEntry{
		Entry: *of, ID: c.Name(), Commit: c.Commit.String(),
		Title: firstLine(of.Work()), Tokens: view.TokensText(checkpoint.SumOf(of.Usage)),
		Mark: view.Category(c), Phase: shownPhase(c), Branch: c.Branch,
		At: stamp(c.Created, v.entries.Now), URL: v.links.checkpoint(c), Pinned: c.Pinned, Archived: c.Archived, Double: view.DoubleText(c),
	}
	e.Short = view.CutBytes(checkpoint.ID(e.ID).Short(), 24)
	if v.write && c.ID != "" && e.Problem == "" {
		e.Back = v.links.below(c, "restore")
	}
	return e
}

// span formats a range of days.
func span(from, to time.Time) string {
	first, last := from.In(time.Local).Format("2 Jan 2006"), to.In(time.Local).Format("2 Jan 2006")
	switch {
	case from.IsZero() || to.IsZero():
		return ""
	case first == last:
		return last
	}
	return first + " \u2013 " + last
}

// entries returns how this page makes the entries of a timeline. Errors leave values unknown: a
// timeline shows broken checkpoints too.
func (v *visit) entries() view.Entries {
	return view.Entries{
		Me: v.repo.Author(), Now: v.o.Now(),
		Record: func(c *gitstore.Checkpoint) *checkpoint.Record {
			r, _ := v.repo.Record(c)
			return r
		},
		Agent: v.repo.Agent,
		Files: func(l *gitstore.Lineage, i int) []string { // of a turn without a request
			if l.List.Checkpoints[i].Note != "" {
				return nil
			}
			return work.ChangedBy(v.repo.Store, l, i)
		},
		Lineage: func(l *gitstore.List) *gitstore.Lineage { return v.repo.Store.Lineage(v.ctx, l) },
		Totals:  func(pairs []gitstore.Pair) []*gitstore.Totals { return v.repo.Files.TotalsOf(v.ctx, pairs) },
	}
}

// entry returns the entry of a single checkpoint without its change.
func (v *visit) entry(at place) *TimelineEntry {
	of := v.entries().Single(at.list, at.at)
	e := v.pager("").entry(&of)
	return &e
}
