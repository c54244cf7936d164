package web

import (
	"net/http"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A CheckpointPage is the page of a checkpoint.
type CheckpointPage struct {
	TimelineEntry
	Note          string // complete note
	Older, Newer  *TimelineEntry
	Raw           string // URL of the record's text
	Standing      *Standing
	Trouble       string // reason why Standing is nil
	Record        *Record
	RecordTrouble string
	Facts         []Fact // facts about the snapshot
	Timings       []Timing
	Files         []FileRow
	FilesLeft     int // number of omitted files
	Actions       []ActionLink
}

// A FileRow is a file in a checkpoint, or an excluded file.
type FileRow struct {
	Path, Status, Where string
	Bad                 bool // excluded from the checkpoint
}

// An ActionLink links to the confirmation form of an action.
type ActionLink struct {
	Verb, URL string
	Bad       bool
}

// maxFiles limits a list of files.
const maxFiles = 500

// checkpoint shows a checkpoint's page.
func (v *visit) checkpoint() error {
	at, err := v.place()
	if err != nil {
		return err
	}
	c := at.checkpoint()
	p := v.page("Checkpoint " + short(v.view("").entry(c, false).ID))
	p.Crumbs = v.crumbs(c.Issue)
	if c.Archived {
		p.Crumbs = append(p.Crumbs, Crumb{"Archive", v.links.archive(c.Issue)})
	}
	p.Crumbs = append(p.Crumbs, Crumb{Text: short(v.view("").entry(c, false).ID)})
	p.Checkpoint = v.checkpointPage(at, true)
	v.write(http.StatusOK, p)
	return nil
}

// checkpointPage returns the page of a checkpoint. If the record is unreadable, the page
// contains the error instead of the record's data.
func (v *visit) checkpointPage(at place, judged bool) *CheckpointPage {
	c := at.checkpoint()
	w := v.view("")
	m := &CheckpointPage{
		TimelineEntry: w.entry(c, at.at == 0), Note: block(cut(c.Note, maxText)),
		Older: w.neighbour(at.older()), Newer: w.neighbour(at.newer()),
		Raw: v.links.below(c, "raw"), Actions: v.actionsFor(c),
	}
	r, err := v.repo.Record(c)
	if err != nil {
		m.RecordTrouble = block(cut(err.Error(), maxText))
		return m
	}
	shown := showRecord(r.Doc())
	m.Record = &shown
	m.Timings = timings(r.Doc())
	m.Files, m.FilesLeft = fileRows(r)
	m.Facts = snapshotFacts(r)
	if r, err = v.repo.VerifiedRecord(c); err != nil {
		m.Trouble = block(cut(err.Error(), maxText))
	} else if judged {
		m.Standing, m.Trouble = v.standing(c, r, m.Tip)
	}
	return m
}

func (v view) neighbour(c *gitstore.Checkpoint) *TimelineEntry {
	if c == nil {
		return nil
	}
	e := v.entry(c, false)
	return &e
}

// actionsFor returns links to available actions for a checkpoint.
func (v *visit) actionsFor(c *gitstore.Checkpoint) []ActionLink {
	if !v.o.Write || v.links.file || c.ID == "" {
		return nil
	}
	var list []ActionLink
	for _, name := range []string{"pin", "unpin", "archive", "drop"} {
		a := actions()[name]
		if a.live && c.Archived || name == "pin" && c.Pinned || name == "unpin" && !c.Pinned {
			continue
		}
		list = append(list, ActionLink{a.verb, v.links.below(c, name), a.bad})
	}
	return list
}

// fileRows returns files named in a record: stored, deleted and excluded files.
func fileRows(r *checkpoint.Record) (rows []FileRow, left int) {
	for _, f := range r.Files() {
		where := "not staged"
		if f.Staged {
			where = "staged"
		}
		rows = append(rows, FileRow{Path: line(cut(f.Path, maxText)), Status: line(cut(f.Status, maxLine)), Where: where})
	}
	s := r.Snapshot()
	for _, path := range s.Deleted {
		rows = append(rows, FileRow{Path: line(cut(path, maxText)), Status: "deleted", Where: "gone from the worktree"})
	}
	for _, f := range s.Skipped {
		rows = append(rows, FileRow{
			Path: line(cut(f.Path, maxText)), Status: "left out", Where: size(f.Size) + ", " + firstLine(f.Reason), Bad: true,
		})
	}
	return rows[:min(len(rows), maxFiles)], max(0, len(rows)-maxFiles)
}

// snapshotFacts returns facts about the snapshot's source.
func snapshotFacts(r *checkpoint.Record) []Fact {
	s := r.Snapshot()
	var facts []Fact
	add := func(name, text string) {
		if text != "" {
			facts = append(facts, Fact{name, line(cut(text, maxLine))})
		}
	}
	add("HEAD", s.Head)
	if s.Head == "" {
		add("HEAD", "no commit yet")
	}
	add("Branch", r.Branch())
	if s.Detached {
		add("Branch", "none: HEAD was detached")
	}
	for _, merged := range s.MergeHead {
		add("Merging", merged)
	}
	has := "the staging area"
	if s.Worktree {
		has += ", unstaged changes"
	}
	if s.Untracked {
		has += ", untracked files"
	}
	add("Has", has)
	return facts
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
	_, err = v.w.Write([]byte(block(string(data))))
	return err
}
