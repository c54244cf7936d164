package web

import (
	"net/http"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A Page is the model for templates; non-nil parts are shown.
type Page struct {
	Title  string
	Name   string // name of the repository
	Home   string
	Crumbs []Crumb
	Write  bool
	File   bool // exported file instead of a served page
	Made   Stamp

	Issues     *Issues
	Issue      *IssuePage
	Checkpoint *CheckpointPage
	Diff       *Diff
	Question   *Question
	Error      *Failure
	Export     *Exported
}

// A Crumb is one breadcrumb link.
type Crumb struct{ Text, URL string }

// A Failure is an error shown instead of other content.
type Failure struct {
	Status int
	Text   string
}

// page returns a new page with common fields.
func (v *visit) page(title string) *Page {
	return &Page{Title: title, Name: line(v.o.Name), Home: v.links.home(), Write: v.o.Write, Made: stamp(v.o.Now(), v.o.Now())}
}

// crumbs returns breadcrumbs to an issue, followed by more.
func (v *visit) crumbs(i checkpoint.Issue, more ...Crumb) []Crumb {
	return append([]Crumb{{"Issue " + line(string(i)), v.links.issue(i)}}, more...)
}

// view returns the parameters of timelines.
func (v *visit) view(base string) view {
	return view{links: v.links, base: base, now: v.o.Now(), old: v.o.Old, size: PageSize}
}

// An IssuePage is the page of an issue.
type IssuePage struct {
	Name, Title string
	State       string // recorded state of the issue
	Labels      []string
	Archived    bool   // timeline shows the archive
	Live        string // URLs of both timelines
	Archive     string
	URL         string // URL of this timeline
	Standing    *Standing
	Trouble     string // reason why Standing is nil
	Tip         *TimelineEntry
	Timeline    Timeline
	Filter      Filter
	Triggers    []string
	Phases      []string // phases on this page
}

// timeline shows an issue's checkpoints and progress.
func (v *visit) timeline(archived bool) error {
	i, err := v.issue()
	if err != nil {
		return err
	}
	f := parseFilter(v.r.URL.Query())
	newest := 0
	if f.Page == 1 && !f.Any() {
		newest = PageSize + 1
	}
	l, err := v.chains.read(v.ctx, v.repo.Store, i, archived, newest)
	if err != nil {
		return err
	}
	if len(l.Checkpoints) == 0 && !v.repo.HasIssue(v.ctx, i) {
		return &gitstore.NoneError{Issue: i}
	}
	p := v.page("Issue " + line(string(i)))
	p.Crumbs = v.crumbs(i)
	if archived {
		p.Title += ", archive"
		p.Crumbs = append(p.Crumbs, Crumb{Text: "Archive"})
	}
	p.Issue = v.issuePage(l, f, archived)
	v.write(http.StatusOK, p)
	return nil
}

// issuePage returns an issue's page. The newest checkpoint is judged, but only on the
// first page without a filter.
func (v *visit) issuePage(l *gitstore.List, f Filter, archived bool) *IssuePage {
	base := v.links.issue(l.Issue)
	if archived {
		base = v.links.archive(l.Issue)
	}
	m := &IssuePage{
		Name: line(string(l.Issue)), Archived: archived, URL: base, Filter: f, Triggers: triggers(),
		Live: v.links.issue(l.Issue), Archive: v.links.archive(l.Issue),
		Timeline: v.view(base).timeline(l, f),
	}
	for _, g := range m.Timeline.Groups {
		m.Phases = addNew(m.Phases, g.Phase)
	}
	if len(l.Checkpoints) == 0 {
		return m
	}
	tip := &l.Checkpoints[0]
	e := v.view(base).entry(tip, true)
	m.Tip = &e
	r, err := v.repo.VerifiedRecord(tip)
	if err != nil {
		m.Trouble = block(cut(err.Error(), maxText))
		return m
	}
	snap := r.IssueSnapshot()
	m.Title, m.State, m.Labels = firstLine(r.Subject()), line(snap.State), lines(snap.Labels)
	if !archived && f.Page == 1 && !f.Any() {
		m.Standing, m.Trouble = v.standing(tip, r, true)
	}
	return m
}

// Kicker returns the text above the title: the issue's name if it has a title, and its
// state.
func (m *IssuePage) Kicker() string {
	var words []string
	if m.Title != "" {
		words = append(words, "Issue "+m.Name)
		if m.Archived {
			words = append(words, "archive")
		}
	}
	if m.State != "" {
		words = append(words, m.State)
	}
	return strings.Join(words, " · ")
}

// standing judges a checkpoint, or returns the error text.
func (v *visit) standing(c *gitstore.Checkpoint, r *checkpoint.Record, tip bool) (*Standing, string) {
	j, err := v.repo.Judge(c, r)
	if err != nil {
		return nil, block(cut(err.Error(), maxText))
	}
	if !tip {
		j.Command = j.This
	}
	s := newStanding(j)
	return &s, ""
}

func triggers() []string {
	var list []string
	for _, t := range checkpoint.Triggers() {
		list = append(list, string(t))
	}
	return list
}

// addNew appends s unless it is empty or already in the list.
func addNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	if s == "" {
		return list
	}
	return append(list, s)
}

// Issues is the first page's table, most recent issue first.
type Issues struct {
	Rows     []IssueRow
	Archived []IssueRow // issues that have only archived checkpoints
	Strange  []string   // invalid issue refs
	Left     int        // number of omitted rows
}

// An IssueRow is an issue's table row.
type IssueRow struct {
	Name, Title, URL string
	Tip              *TimelineEntry
	Progress         string
	Problem          string

	issue checkpoint.Issue
}
