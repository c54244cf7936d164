package web

import (
	"slices"
	"strings"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A CheckpointPage is the page of a checkpoint.
type CheckpointPage struct {
	TimelineEntry
	More          string // note without its first line
	Request       string // of the turn, "" if it is equal to the title
	Answer        string // end of the agent's answer
	Summary       string
	Decisions     []string
	Label         string // of the issue
	Older, Newer  *TimelineEntry
	Raw           string // URL of the record's text
	Standing      *Standing
	Trouble       string // reason why Standing is nil
	Record        string // as YAML
	RecordLeft    bool   // Record is not the whole record
	RecordTrouble string
	Facts         []view.Row // facts about the snapshot
	Timings       []Timing
	LeftOut       []checkpoint.Skipped // files missing from the checkpoint
	FilesLeft     int                  // number of omitted rows of LeftOut
	Actions       []ActionLink
	Changes       *Diff
	Sides         []Side // comparisons that the page offers
	CommitPage    string // HEAD at the save, at the forge
	Head          string
	BranchPage    string
	Forge         string // host of the forge
}

// A Side is a comparison or a view that a page offers.
type Side struct {
	Text, URL string
	Selected  bool
}

// An ActionLink links to the confirmation form of an action.
type ActionLink struct {
	Verb, URL string
	Bad, Main bool
}

// Limits of the lists on the page of a checkpoint.
const (
	maxFiles     = 500
	maxDecisions = 200
)

// text returns a text of a record without the space around it.
func text(s string) string { return view.CutBytes(strings.TrimSpace(s), maxText) }

func (v *visit) checkpoint() error {
	at, err := v.place()
	if err != nil {
		return err
	}
	c := at.checkpoint()
	m := v.checkpointPage(at, true)
	head := v.r.URL.Query().Get("since") == againstHead
	older, _ := v.repo.Store.Lineage(v.ctx, at.list).Before(at.at)
	if m.Problem == "" {
		m.compare(v, c, older, head)
	}
	p := v.page(m.Title)
	p.Crumbs = v.crumbs(c.Issue)
	if c.Archived {
		p.Crumbs = append(p.Crumbs, Link{"Archive", v.links.view(c.Issue, "archive")})
	}
	p.Crumbs = append(p.Crumbs, Link{Text: m.Short})
	p.Checkpoint = m
	return v.show(p)
}

// compare adds the changed files: since the checkpoint before, or since HEAD.
func (m *CheckpointPage) compare(v *visit, c, older *gitstore.Checkpoint, head bool) {
	from := older
	if head {
		from = nil
	}
	m.Changes = v.diffPage(from, c, budget{maxDiffLines, maxFileLines}, nil)
	if older != nil {
		page := v.links.checkpoint(c)
		m.Sides = []Side{{"Since the checkpoint before", page, !head}, {"Since HEAD", page + "?since=" + againstHead, head}}
	}
}

// checkpointPage returns the page of a checkpoint. If the record is unreadable, the page
// contains the error instead of the record's data.
func (v *visit) checkpointPage(at place, judged bool) *CheckpointPage {
	c := at.checkpoint()
	_, more, _ := strings.Cut(strings.TrimSpace(c.Note), "\n") // the first line is the title
	m := &CheckpointPage{
		TimelineEntry: *v.entry(at), Label: issueLabel(c.Issue), More: text(more),
		Older: v.neighbour(at, 1), Newer: v.neighbour(at, -1),
		Raw: v.links.below(c, "raw"), Actions: v.actionsFor(c, actionNames...),
	}
	if base := v.links.issue(c.Issue); !v.links.file && c.ID != "" && !c.Archived {
		m.Compare = Link{"Compare", base + Filter{Compare: nameOf(c)}.query(1)}
	}
	r, err := v.repo.Record(c)
	if err != nil {
		m.RecordTrouble = err.Error()
		return m
	}
	if data, err := r.Encode(); err == nil {
		m.Record = view.CutBytes(string(data), maxRecord)
		m.RecordLeft = len(m.Record) < len(data)
	}
	m.Timings, m.Facts, m.LeftOut = timings(r.Doc()), snapshotFacts(r), r.Snapshot().Skipped
	m.FilesLeft = max(0, len(m.LeftOut)-maxFiles)
	m.LeftOut = m.LeftOut[:len(m.LeftOut)-m.FilesLeft]
	if t := r.AgentTurn(); m.Who() != "" {
		m.Answer = text(t.Answer)
		if m.Request = text(t.Request); m.Request == m.Title {
			m.Request = ""
		}
	}
	if m.Summary = text(r.Doc().Text("context_summary")); m.Summary == m.Title {
		m.Summary = ""
	}
	m.Decisions = view.Few(r.Decisions(), maxDecisions)
	m.Head = checkpoint.HashOf(r.Snapshot().Head)
	if !v.links.file {
		m.Forge, m.CommitPage, m.BranchPage = v.repo.Forge.Name(), v.repo.Forge.Code.CommitPage(m.Head), v.repo.Forge.Code.BranchPage(c.Branch)
	}
	if r, err = v.repo.VerifiedRecord(c); err != nil {
		m.Trouble = err.Error()
	} else if judged {
		m.Standing, m.Trouble = v.standing(c, r, m.Tip)
	}
	return m
}

// neighbour returns the entry of the checkpoint that is step places older, or nil.
func (v *visit) neighbour(at place, step int) *TimelineEntry {
	if at.near(step) == nil {
		return nil
	}
	return v.entry(place{at.list, at.at + step})
}

func (v *visit) actionsFor(c *gitstore.Checkpoint, names ...string) []ActionLink {
	if !v.o.Write || c.ID == "" {
		return nil
	}
	var list []ActionLink
	for _, name := range names {
		a := actions[name]
		if a.live && c.Archived || name == "pin" && c.Pinned || name == "unpin" && !c.Pinned || name == "resume" && !c.Resumable {
			continue
		}
		list = append(list, ActionLink{a.verb, v.links.below(c, name), a.bad, name == "resume"})
	}
	return list
}

func snapshotFacts(r *checkpoint.Record) []view.Row {
	s := r.Snapshot()
	facts := []view.Row{{Label: "Branch", Text: r.Branch()}}
	if s.Head == "" {
		facts = append(facts, view.Row{Label: "HEAD", Text: "no commit yet"})
	}
	if s.Detached {
		facts = append(facts, view.Row{Label: "Branch", Text: "none: HEAD was detached"})
	}
	facts = append(facts, view.Row{Label: "Merging", Text: view.List(s.MergeHead)}, view.Row{Label: "Contains", Text: view.ScopeText(s)})
	return slices.DeleteFunc(facts, func(f view.Row) bool { return f.Text == "" })
}

// raw sends the stored record as sanitised plain text.
func (v *visit) raw() error {
	at, err := v.place()
	if err != nil {
		return err
	}
	data, err := v.repo.RecordBytes(at.checkpoint())
	if err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	h.Set("Content-Disposition", `inline; filename="checkpoint.yaml"`)
	_, err = v.w.Write([]byte(view.CleanBlock(string(data))))
	return err
}
