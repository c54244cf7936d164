package web

import (
	"net/http"
	"slices"
	"strings"

	"git-checkpoint/freshness"
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

// A Judged is the assessment of a checkpoint: verdict and progress.
type Judged struct {
	Verdict   freshness.Verdict
	Facts     []Fact // progress facts
	Names     []string
	Completed []string
	Current   string // phase to continue
	Complete  bool   // no work remains
	Command   string // command that resumes the newest checkpoint
	This      string // command that resumes this checkpoint
	Alone     string // whether an unattended resume is possible
}

// A Phase is one step in the progress display.
type Phase struct{ Name, State string } // State is done, now or left

// A Standing shows an issue's progress and verdict.
type Standing struct {
	Phases   []Phase
	Left     int // number of omitted phases
	Facts    []Fact
	Verdict  Verdict
	Complete bool
}

// A Fact is a named line of text.
type Fact struct{ Name, Text string }

// A Verdict is a freshness.Verdict for users.
type Verdict struct {
	Word    string // recommended action
	Class   string // good, warn, ask or bad
	Says    string // one-sentence summary
	Auto    string // whether an unattended resume is possible
	Reasons []ReasonView
	Command string
}

// A ReasonView is one reason in a verdict.
type ReasonView struct {
	Check, Severity, Message, Hint string
	Detail, Diff                   []string
}

// maxPhases limits shown phases.
const maxPhases = 24

// newStanding prepares an assessment for templates.
func newStanding(j Judged) Standing {
	s := Standing{Verdict: verdict(j), Complete: j.Complete}
	for _, name := range j.Names {
		if len(s.Phases) == maxPhases {
			s.Left = len(j.Names) - maxPhases
			break
		}
		state := "left"
		switch {
		case slices.Contains(j.Completed, name):
			state = "done"
		case name == j.Current:
			state = "now"
		}
		s.Phases = append(s.Phases, Phase{line(cut(name, 80)), state})
	}
	for _, f := range j.Facts {
		if f.Text != "" {
			s.Facts = append(s.Facts, Fact{line(f.Name), firstLine(f.Text)})
		}
	}
	return s
}

// words returns label, style class and summary of an action.
func words(a freshness.Action) (word, class, says string) {
	switch a {
	case freshness.Resume:
		return "Fresh", "good", "Nothing stands against going on from here."
	case freshness.ProceedWithWarning:
		return "Usable, with warnings", "warn", "It can be resumed; read the warnings first."
	case freshness.PromptUser:
		return "A question to answer", "ask", "Something changed that only a person can answer for."
	}
	return "Cannot be resumed", "bad", "Start fresh, or look at an older one."
}

func verdict(j Judged) Verdict {
	word, class, says := words(j.Verdict.Action)
	v := Verdict{Word: word, Class: class, Says: says, Auto: firstLine(j.Alone), Command: line(j.Command)}
	if j.Complete {
		v.Says = "Nothing is left to do."
	}
	for _, r := range j.Verdict.WorstFirst() {
		v.Reasons = append(v.Reasons, ReasonView{
			Check: line(r.Check), Severity: line(r.Severity), Message: line(r.Message), Hint: line(r.Hint),
			Detail: lines(r.Detail), Diff: lines(r.Diff),
		})
	}
	return v
}

// lines cleans lines of text and limits their number.
func lines(all []string) []string {
	const few = 60
	var shown []string
	for _, s := range all[:min(len(all), few)] {
		shown = append(shown, line(cut(strings.TrimRight(s, "\r\n"), maxLine)))
	}
	if n := len(all) - few; n > 0 {
		shown = append(shown, count(n, "more line"))
	}
	return shown
}
