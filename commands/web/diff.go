package web

import (
	"fmt"
	"net/url"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/diff"
)

// A Diff holds the differences between two checkpoints.
type Diff struct {
	From         *TimelineEntry // nil means HEAD at the save
	To           *TimelineEntry
	Self         string   // URL of the page
	Against      []Option // checkpoints for the comparison
	State        []StateRow
	StateSays    string
	StateTrouble string
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
	return v.show(p)
}

// compared returns the checkpoint to compare with: the checkpoint named in the URL, or by
// default the previous checkpoint. nil means HEAD at the save.
func (v *visit) compared(at place) (*gitstore.Checkpoint, error) {
	switch name := cut(v.r.URL.Query().Get("against"), 400); name {
	case "":
		return at.near(1), nil
	case againstHead:
		return nil, nil
	default:
		if i := indexOf(at.list, name); i >= 0 {
			return &at.list.Checkpoints[i], nil
		}
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
	list := []Option{{againstHead, "HEAD at the save", chosen == againstHead}}
	seen := from == nil
	add := func(c *gitstore.Checkpoint, e *TimelineEntry) {
		isFrom := chosen == nameOf(c)
		list, seen = append(list, Option{nameOf(c), cut(e.Title, 90) + ", " + e.At.Ago() + " (" + e.Short + ")", isFrom}), seen || isFrom
	}
	all := at.list.Checkpoints
	first := max(0, at.at-nearChoices/3)
	for i := first; i < len(all) && i < first+nearChoices; i++ {
		if i != at.at {
			add(&all[i], v.entry(place{at.list, i}))
		}
	}
	if !seen {
		add(from, v.single(from))
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
		if len(paths) == 0 {
			v.compareRecords(d, from, to, &b)
		}
	}
	if len(paths) > 0 {
		b.file = b.page
	}
	if err := v.compareFiles(d, from, to, paths, &b); err != nil {
		d.FilesTrouble = block(cut(err.Error(), maxText))
	}
	above := 0 // lines
	for i := range d.Files {
		f := &d.Files[i]
		if d.Self != "" {
			f.URL = d.Self + "?" + url.Values{"against": {nameOrHead(from)}, "path": f.paths}.Encode()
			f.Folded = above > 600 && len(d.Files) > 1 // a reader sees all files
		}
		for _, h := range f.Hunks {
			above += len(h.Lines)
		}
		if f.Status != "deleted" && !to.Archived {
			f.Blame = v.links.blame(to.Issue, f.paths[0], nameOf(to))
		}
		if d.To.Back != "" {
			f.Back = d.To.Back + "?" + url.Values{"path": {url.PathEscape(f.paths[0])}}.Encode()
		}
	}
	return d
}

// single returns the entry of a checkpoint alone.
func (v *visit) single(c *gitstore.Checkpoint) *TimelineEntry {
	return v.entry(place{&gitstore.List{Issue: c.Issue, Checkpoints: []gitstore.Checkpoint{*c}}, 0})
}

func (v *visit) compareRecords(d *Diff, from, to *gitstore.Checkpoint, b *budget) {
	old, err := v.repo.Record(from)
	if err == nil {
		now, failed := v.repo.Record(to)
		if err = failed; err == nil {
			d.State = stateRows(old.Doc(), now.Doc(), b)
		}
	}
	if err != nil {
		d.StateTrouble = block(cut(err.Error(), maxText))
		return
	}
	d.StateSays = count(len(d.State), "change")
}

func (v *visit) compareFiles(d *Diff, from, to *gitstore.Checkpoint, paths []string, b *budget) error {
	between, err := v.repo.Files.Compare(from, to, literal(paths)...)
	if err != nil {
		return err
	}
	files, patch, whole, err := between.Changes(v.ctx, maxPatch)
	if err != nil {
		return err
	}
	d.FilesSay = "no file changed"
	if len(files) > 0 {
		d.FilesSay = count(len(files), "file") + " changed"
	}
	d.Files, d.Left = fileDiffs(files, patch, whole, b)
	for _, f := range d.Files {
		d.Added, d.Deleted = d.Added+f.Added, d.Deleted+f.Deleted
	}
	return nil
}

func literal(paths []string) []string {
	var list []string
	for _, p := range paths[:min(len(paths), 2)] {
		list = append(list, ":(literal,top)"+cut(p, 4096))
	}
	return list
}

// A StateRow is a changed path in the record.
type StateRow struct {
	Path, Op string
	Old, New *Value
	Hunks    []Hunk // replace Old and New for multi-line values
}

// maxChanges limits rows in a table of changes.
const maxChanges = 1000

// always reports whether a path differs between all checkpoints and is irrelevant.
func always(path string) bool {
	return path == "checkpoint_id" || path == "created_at" || path == "clock" || strings.HasPrefix(path, "files_modified")
}

// stateRows returns changes between two records.
func stateRows(from, to *checkpoint.Map, b *budget) []StateRow {
	var rows []StateRow
	s := &shower{left: maxValues}
	for _, c := range diff.Records(from, to) {
		if len(rows) == maxChanges || s.left <= 0 {
			break
		}
		if !always(c.Path) {
			rows = append(rows, s.row(c, b))
		}
	}
	return rows
}

// row shows short values side by side and other values as a line diff.
func (s *shower) row(c diff.FieldChange, b *budget) StateRow {
	row := StateRow{Path: line(cut(c.Name, maxLine)), Op: string(c.Op)}
	if side(c.Old) && side(c.New) || b.spend() == 0 {
		row.Old, row.New = s.half(c.Old), s.half(c.New)
		return row
	}
	old, now := text(c.Old), text(c.New)
	if old == "" || now == "" || strings.HasSuffix(old, "\n") && strings.HasSuffix(now, "\n") {
		old, now = strings.TrimSuffix(old, "\n"), strings.TrimSuffix(now, "\n") // newlines at both ends
	}
	row.Hunks, _ = textHunks(old, now, b.spend())
	for _, h := range row.Hunks {
		b.page -= len(h.Lines)
	}
	return row
}

func (s *shower) half(v any) *Value {
	if v == nil {
		return nil
	}
	shown := s.value(v)
	return &shown
}

// side reports whether a value is short enough to be shown side by side.
func side(v any) bool {
	s, _ := v.(string)
	return flat(v) && !strings.Contains(s, "\n")
}

// text converts a value to lines: strings unchanged, other values as YAML.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return cut(v, maxPatch)
	case *checkpoint.Map:
		if data, err := checkpoint.FromDoc(v).Encode(); err == nil {
			return cut(string(data), maxPatch)
		}
	case []any:
		m := checkpoint.NewMap()
		m.Set("list", v)
		if data, err := checkpoint.FromDoc(m).Encode(); err == nil {
			_, data, _ := strings.Cut(string(data), "\n")
			return cut(data, maxPatch)
		}
	}
	return firstLine(fmt.Sprint(v))
}
