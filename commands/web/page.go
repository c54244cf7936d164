package web

import (
	"cmp"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// A Page is the model for templates; non-nil parts are shown.
type Page struct {
	Title  string
	Name   string // name of the repository
	Home   string
	Tab    string // issues, activity or ""
	Crumbs []Link
	Write  bool
	File   bool // exported file instead of a served page
	Made   Stamp
	Live   *Live
	Notice *Notice

	Issues     *Issues
	Activity   *Activity
	Issue      *IssuePage
	Checkpoint *CheckpointPage
	Diff       *Diff
	Blame      *BlamePage
	Turns      *TurnsPage
	Question   *Question
	Error      *Failure
	Export     *Exported
}

// A Failure is an error shown instead of other content.
type Failure struct {
	Title, Text string
	Commands    []string // commands that help
}

func (v *visit) page(title string) *Page {
	p := &Page{Title: title, Name: v.o.Name, Home: v.links.home(), Write: v.o.Write, Made: stamp(v.o.Now(), v.o.Now())}
	if n, ok := v.notices.get(v.r.URL.Query().Get("notice")); ok {
		p.Notice = &n
	}
	return p
}

func (v *visit) crumbs(i checkpoint.Issue, more ...Link) []Link {
	return append([]Link{{"Issues", v.links.home()}, {issueLabel(i), v.links.issue(i)}}, more...)
}

func (v *visit) pager(base string) pager {
	size := PageSize
	if v.links.file { // it has one page
		size = exportLine
	}
	return pager{links: v.links, write: v.o.Write, base: base, size: size, entries: v.entries()}
}

// An IssuePage is the page of an issue.
type IssuePage struct {
	Label, Title string
	State        string // recorded state of the issue
	Labels       []string
	Archived     bool // timeline shows the archive
	Views        []Side
	URL          string // URL of this timeline
	Undo         string // URL that undoes the last change, or ""
	Branch       string
	Here         bool // the current branch has the work
	Forge        Link // page of the issue at the forge
	BranchPage   string
	Standing     *Standing
	Trouble      string // reason why Standing is nil
	Tip          *TimelineEntry
	Forks        *ForkNode // tree with the issue, or nil without forks
	Actions      []ActionLink
	Timeline     Timeline
	Filter       Filter
	NotSearched  string         // error of the search, or ""
	Chosen       *TimelineEntry // checkpoint that is selected for a comparison
	Clear        string         // URL without a filter
	Triggers     []Option
	Phases       []Option
}

type Option struct {
	Value, Text string
	Selected    bool
}

func (v *visit) timeline(archived bool) error {
	i, err := v.issue()
	if err != nil {
		return err
	}
	f := parseFilter(v.r.URL.Query())
	newest := 0
	if !f.whole() {
		newest = PageSize + 1
	}
	l, err := v.chain(i, archived, newest)
	if err != nil {
		return err
	}
	if len(l.Checkpoints) == 0 && !v.repo.HasIssue(v.ctx, i) {
		return &gitstore.NoneError{Issue: i}
	}
	m := v.issuePage(l, f, archived)
	p := v.page(m.Heading())
	p.Crumbs = v.crumbs(i)
	if archived {
		p.Title = "Archive of " + p.Title
		p.Crumbs = append(p.Crumbs, Link{Text: "Archive"})
	} else {
		unsaved := ""
		if m.Here && m.Standing != nil {
			unsaved = m.Standing.Unsaved
		}
		var newest checkpoint.Clock
		for k := range l.Checkpoints {
			newest = max(newest, l.Checkpoints[k].Stated)
		}
		p.Live = v.live(i, newest, l.Tip.String(), unsaved)
	}
	p.Issue = m
	return v.show(p)
}

// newestTip returns the largest clock of the newest checkpoints.
func newestTip(tips []gitstore.Tip) (newest checkpoint.Clock) {
	for _, t := range tips {
		if t.Checkpoint != nil {
			newest = max(newest, t.Checkpoint.Stated)
		}
	}
	return newest
}

// issuePage returns an issue's page. The newest checkpoint is judged, but only on the
// first page without a filter.
func (v *visit) issuePage(l *gitstore.List, f Filter, archived bool) *IssuePage {
	base, shown := v.links.issue(l.Issue), "Timeline"
	if archived {
		base, shown = v.links.view(l.Issue, "archive"), "Archive"
	}
	s := v.search(f)
	m := &IssuePage{
		Label: issueLabel(l.Issue), Archived: archived, Views: v.views(l.Issue, shown), URL: base, Filter: f,
		Timeline: v.pager(base).timeline(l, s), Clear: base,
		Phases: phasesOf(l, f.Phase),
	}
	for _, t := range checkpoint.Triggers() {
		m.Triggers = append(m.Triggers, Option{string(t), view.Event(&gitstore.Checkpoint{Trigger: t}, nil), string(t) == f.Trigger})
	}
	if s.err != nil {
		m.NotSearched = s.err.Error()
	}
	if at := indexOf(l, f.Compare); f.Compare != "" && at >= 0 {
		m.Chosen = v.entry(place{l, at})
		m.Clear = base + Filter{Compare: f.Compare}.query(1)
	}
	if v.o.Write {
		m.Undo = v.links.view(l.Issue, "undo")
	}
	if !v.links.file {
		m.Forge = Link{v.repo.Forge.Name(), v.repo.Forge.Issues.IssuePage(string(l.Issue))}
	}
	if len(l.Checkpoints) > 0 {
		m.fill(v, l)
	}
	return m
}

func (v *visit) views(i checkpoint.Issue, selected string) []Side {
	if v.links.file {
		return nil
	}
	return []Side{
		{"Timeline", v.links.issue(i), selected == "Timeline"},
		{"Turns", v.links.view(i, "turns"), selected == "Turns"},
		{"Archive", v.links.view(i, "archive"), selected == "Archive"},
	}
}

// fill adds what the checkpoint records from which the work goes on.
func (m *IssuePage) fill(v *visit, l *gitstore.List) {
	at := 0
	if p, err := v.repo.Point(v.ctx, l.Issue); err == nil && !m.Archived && len(p.Later) < len(l.Checkpoints) {
		at = len(p.Later)
	}
	tip := &l.Checkpoints[at]
	m.Tip = v.entry(place{l, at})
	r, err := v.repo.VerifiedRecord(tip)
	if err != nil {
		m.Trouble = err.Error()
		return
	}
	snap := r.IssueSnapshot()
	m.Title, m.State, m.Labels = firstLine(r.Subject()), snap.State, view.Few(snap.Labels, maxLines)
	m.Branch = tip.Branch
	if now, err := v.repo.Branch(v.ctx); err == nil && !v.links.file {
		m.Here = now != "" && gitstore.RecordedBranch(now) == tip.Branch
		m.BranchPage = v.repo.Forge.Code.BranchPage(tip.Branch)
	}
	if !m.Archived && !m.Filter.whole() {
		m.Standing, m.Trouble = v.standing(tip, r, true)
		m.Forks = v.forks(l.Issue, r)
		m.Actions = v.actionsFor(tip, "resume", "restore")
	}
}

// Heading returns the title of the page: the title of the work, or the issue.
func (m *IssuePage) Heading() string {
	return cmp.Or(m.Title, "Issue "+m.Label)
}

// standing judges a checkpoint, or returns the error text.
func (v *visit) standing(c *gitstore.Checkpoint, r *checkpoint.Record, tip bool) (*Standing, string) {
	j, err := v.repo.Judge(c, r)
	if err != nil {
		return nil, err.Error()
	}
	if tip && !v.links.file && v.repo.Beside != nil {
		v.repo.Beside(j)
	}
	s := newStanding(j, tip)
	return &s, ""
}

func phasesOf(l *gitstore.List, chosen string) (list []Option) {
	names := []string{""}
	for i := range l.Checkpoints {
		names = append(names, shownPhase(&l.Checkpoints[i]))
	}
	names = view.Distinct(append(names, chosen))[1:]
	for _, name := range names[:min(len(names), 2*maxPhases)] {
		list = append(list, Option{name, name, name == chosen})
	}
	return list
}

// Issues is the first page's table, most recent issue first.
type Issues struct {
	Rows     []IssueRow
	Archived []Link   // issues that have only archived checkpoints
	Strange  []string // invalid issue refs
	Left     int      // number of issues after the rows
	File     bool     // in an exported file, which has no search
	Filter   Filter   // of the search

	Shown        string // description of the shown range, "" if all are shown
	Newer, Older string // URLs of adjacent pages, or ""
}

// An IssueRow is an issue's table row.
type IssueRow struct {
	Label, Title, URL string
	Tip               *TimelineEntry
	Count             string       // number of checkpoints
	People, Agents    string       // authors of checkpoints, and agents with turns
	Tokens            string       // of all turns, or ""
	Phases            []view.Phase // progress
	Done              string       // "3 of 5"
	Phase             string       // current phase
	Here              bool         // the current branch has the work
	Word, Class       string       // verdict, and its style
	Problem           string

	issue checkpoint.Issue
}

// A Standing is a view.Standing in the form of the page.
type Standing struct {
	*view.Standing
	Phases  []view.Phase
	Left    int // number of omitted phases
	Facts   []view.Row
	Verdict Verdict
	Saved   Stamp                 // of the checkpoint
	Unsaved string                // "3 files not saved yet"
	Tokens  map[string][]view.Row // by agent and model, and by phase
}

// A Verdict is a freshness.Verdict for users.
type Verdict struct {
	freshness.Verdict
	Word    string // recommended action
	Class   string // good, warn, ask or bad
	Says    string // one-sentence summary
	Command string
}

// maxPhases limits shown phases.
const maxPhases = 24

// newStanding prepares a standing for templates. tip means that a resume chooses its checkpoint
// by itself.
func newStanding(j *view.Standing, tip bool) Standing {
	s := Standing{
		Standing: j, Verdict: verdict(j, tip), Saved: stamp(j.Checkpoint.Created, j.Now), Unsaved: view.NotSavedText(j.NotSaved()),
	}
	if spent := j.Record.AgentTurn().Spent; len(spent) > 0 {
		s.Tokens = map[string][]view.Row{
			"Agent": view.TokensBy(spent, func(s checkpoint.Spent) string { return strings.TrimSpace(s.Agent + " " + s.Model) }),
			"Phase": view.TokensBy(spent, func(s checkpoint.Spent) string { return s.Phase }),
		}
	}
	s.Phases, s.Left = firstPhases(j.Record.Progress(), j.Verdict.At)
	s.Facts = slices.Concat(j.ProgressRows(), []view.Row{{Label: "Continue at", Text: j.ContinueFrom()}}, j.BesideRows())
	return s
}

// firstPhases returns the first phases of a workflow, and the number of the others.
func firstPhases(p checkpoint.Progress, at progress.Point) (phases []view.Phase, left int) {
	phases = view.Phases(p, at)
	left = max(0, len(phases)-maxPhases)
	return phases[:len(phases)-left], left
}

// resumeCommand returns the command that resumes a checkpoint, or "". tip means that a resume
// chooses the checkpoint by itself.
func resumeCommand(s *view.Standing, tip bool) string {
	switch command := "git checkpoint resume " + view.IssueArg(s.Checkpoint.Issue); {
	case !s.Verdict.CanResume:
		return ""
	case tip:
		return command
	default:
		return command + " " + view.QuoteArg(string(s.Checkpoint.ID))
	}
}

// verdicts has the texts of actions.
var verdicts = map[freshness.Action]Verdict{
	freshness.Resume:             {Word: "Ready to resume", Class: "good", Says: "Nothing has changed that matters for this work."},
	freshness.ProceedWithWarning: {Word: "Ready, with warnings", Class: "warn", Says: "The work can be resumed. Read the warnings first."},
	freshness.PromptUser:         {Word: "Needs an answer", Class: "ask", Says: "Something has changed. Decide whether to resume."},
	freshness.StartFresh:         {Word: "Cannot be resumed", Class: "bad", Says: "Start over, or resume from an older checkpoint."},
}

func verdict(j *view.Standing, tip bool) Verdict {
	v := verdicts[j.Verdict.Action]
	v.Verdict, v.Command = j.Verdict, resumeCommand(j, tip)
	if v.At.Complete {
		v.Word, v.Says = "Completed", "All phases are completed."
	}
	return v
}

// maxLines limits the lines of a list.
const maxLines = 60
