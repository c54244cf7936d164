package web

import (
	"net/url"
	"slices"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
)

// A Diff holds the differences between two checkpoints.
type Diff struct {
	From         *TimelineEntry // nil means HEAD at the save
	To           *TimelineEntry
	Self         string   // URL of the page
	Against      []Option // checkpoints for the comparison
	Record       string   // changes of the record, as diff prints them
	RecordSays   string
	Files        []FileDiff
	FilesSay     string
	Added        int // lines
	Deleted      int
	FilesTrouble string
	Left         int // number of omitted files
}

// nearChoices is the number of adjacent checkpoints to choose from.
const nearChoices = 12

// againstHead is the parameter value for HEAD at the save.
const againstHead = "head"

func (v *visit) diff() error {
	at, err := v.place()
	if err != nil {
		return err
	}
	from, err := v.compared(at)
	if err != nil {
		return err
	}
	c := at.checkpoint()
	e := v.entry(at)
	p := v.page("Comparison with " + e.Title)
	p.Crumbs = v.crumbs(c.Issue, Link{e.Short, v.links.checkpoint(c)}, Link{Text: "Compare"})
	q := v.r.URL.Query()
	p.Diff = v.diffPage(from, c, budget{maxDiffLines, maxFileLines}, q["path"])
	p.Diff.Against = v.choices(at, from)
	if from != nil && len(q["path"]) == 0 {
		p.Diff.Record, p.Diff.RecordSays = v.compareRecords(from, c)
	}
	return v.show(p)
}

// compared returns the checkpoint to compare with: the checkpoint named in the URL, or by
// default the previous checkpoint. nil means HEAD at the save.
func (v *visit) compared(at place) (*gitstore.Checkpoint, error) {
	switch name := v.r.URL.Query().Get("against"); name {
	case "":
		return at.near(1), nil
	case againstHead:
		return nil, nil
	default:
		return v.repo.Find(v.ctx, at.list.Issue, name)
	}
}

func nameOrHead(c *gitstore.Checkpoint) string {
	if c == nil {
		return againstHead
	}
	return nameOf(c)
}

// choices returns HEAD at the save and adjacent checkpoints.
func (v *visit) choices(at place, from *gitstore.Checkpoint) []Option {
	chosen := nameOrHead(from)
	list := []Option{{againstHead, "HEAD at the save", from == nil}}
	add := func(e *TimelineEntry) {
		name := nameOf(e.Checkpoint)
		list = append(list, Option{name, view.Truncate(e.Title, 90) + ", " + e.At.Ago + " (" + e.Short + ")", name == chosen})
	}
	first := max(0, at.at-nearChoices/3)
	for i := first; i < min(len(at.list.Checkpoints), first+nearChoices); i++ {
		if i != at.at {
			add(v.entry(place{at.list, i}))
		}
	}
	if !slices.ContainsFunc(list, func(o Option) bool { return o.Selected }) {
		add(v.single(from))
	}
	return list
}

// diffPage compares two checkpoints within a budget of lines; a nil from means HEAD at
// the save. If paths is not empty, only these files are compared, and each file can use
// the page's whole budget.
func (v *visit) diffPage(from, to *gitstore.Checkpoint, b budget, paths []string) *Diff {
	d := &Diff{To: v.single(to), Self: v.links.below(to, "diff")}
	if from != nil {
		d.From = v.single(from)
	}
	if len(paths) > 0 {
		b.file = b.page
	}
	if err := v.compareFiles(d, from, to, paths, &b); err != nil {
		d.FilesTrouble = err.Error()
	}
	above := 0 // lines
	for i := range d.Files {
		f := &d.Files[i]
		if d.Self != "" {
			alone := url.Values{"against": {nameOrHead(from)}, "path": {f.Path}}
			if f.From != "" {
				alone.Add("path", f.From)
			}
			f.URL = d.Self + "?" + alone.Encode()
			f.Folded = above > 600 && len(d.Files) > 1 // a reader sees all files
		}
		above += len(f.Lines)
		if f.Status != "deleted" && !to.Archived {
			f.Blame = v.links.blame(to.Issue, f.Path, nameOf(to))
		}
		if d.To.Back != "" {
			f.Back = d.To.Back + "?" + url.Values{"path": {url.PathEscape(f.Path)}}.Encode()
		}
	}
	return d
}

func (v *visit) single(c *gitstore.Checkpoint) *TimelineEntry {
	return v.entry(place{&gitstore.List{Issue: c.Issue, Checkpoints: []gitstore.Checkpoint{*c}}, 0})
}

// compareRecords returns the changes between the records of two checkpoints as diff prints them, and
// their numbers or the error.
func (v *visit) compareRecords(from, to *gitstore.Checkpoint) (text, says string) {
	before, err := v.repo.Record(from)
	if err != nil {
		return "", err.Error()
	}
	after, err := v.repo.Record(to)
	if err != nil {
		return "", err.Error()
	}
	changes := view.Told(view.RecordChanges(before, after), true)
	return view.CutBytes(view.Screen{}.Record(changes), maxRecord), view.Summary(changes)
}

func (v *visit) compareFiles(d *Diff, from, to *gitstore.Checkpoint, paths []string, b *budget) error {
	var only []string
	for _, p := range paths[:min(len(paths), 2)] {
		only = append(only, ":(literal,top)"+view.CutBytes(p, 4096))
	}
	between, err := v.repo.Files.Compare(from, to, only...)
	if err != nil {
		return err
	}
	files, patch, whole, err := between.Changes(v.ctx, maxPatch)
	if err != nil {
		return err
	}
	d.FilesSay = "no file changed"
	if len(files) > 0 {
		d.FilesSay = view.Plural(len(files), "file") + " changed"
	}
	d.Files, d.Left = fileDiffs(files, patch, whole, b)
	for _, f := range d.Files {
		d.Added, d.Deleted = d.Added+f.Added, d.Deleted+f.Deleted
	}
	return nil
}
