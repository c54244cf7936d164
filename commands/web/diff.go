package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/diff"
)

// A Diff holds the differences between two checkpoints.
type Diff struct {
	From         *TimelineEntry // nil means HEAD at the save
	To           TimelineEntry
	Self         string // URL of the page
	Against      []Choice
	State        []StateRow
	StateSays    string
	StateTrouble string
	Files        []FileDiff
	FilesSay     string
	Added        int // lines
	Removed      int
	FilesTrouble string
	Left         int // number of omitted files
}

// A Choice is a selectable checkpoint for the comparison.
type Choice struct {
	Value, Text string
	Selected    bool
}

// nearChoices is the number of adjacent checkpoints to choose from.
const nearChoices = 12

// againstHead is the parameter value for HEAD at the save.
const againstHead = "head"

// diff shows the changes of a checkpoint.
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
	p.Diff.Self = v.links.below(c, "diff")
	p.Diff.Against = v.choices(at, from)
	for i := range p.Diff.Files {
		f := &p.Diff.Files[i]
		f.URL = p.Diff.Self + "?" + url.Values{"against": {nameOrHead(from)}, "path": f.paths}.Encode()
	}
	p.Diff.fold()
	v.write(http.StatusOK, p)
	return nil
}

// fold closes the files after the first lines of a page, so that a reader sees all files.
func (d *Diff) fold() {
	lines := 0
	for i := range d.Files {
		f := &d.Files[i]
		f.Folded = lines > 600 && len(d.Files) > 1
		for _, h := range f.Hunks {
			lines += len(h.Lines)
		}
	}
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
func (v *visit) choices(at place, from *gitstore.Checkpoint) []Choice {
	chosen := nameOrHead(from)
	list := []Choice{{againstHead, "HEAD at the save", chosen == againstHead}}
	add := func(c *gitstore.Checkpoint) {
		e := v.single(at.list, c)
		list = append(list, Choice{nameOf(c), cut(e.Title, 90) + ", " + e.At.Ago() + " (" + e.Short + ")", chosen == nameOf(c)})
	}
	all := at.list.Checkpoints
	first := max(0, at.at-nearChoices/3)
	seen := from == nil
	for i := first; i < len(all) && i < first+nearChoices; i++ {
		if i != at.at {
			add(&all[i])
			seen = seen || &all[i] == from
		}
	}
	if !seen {
		add(from)
	}
	return list
}

// diffPage compares two checkpoints within a budget of lines; a nil from means HEAD at
// the save. If paths is not empty, only these files are compared, and each file can use
// the page's whole budget.
func (v *visit) diffPage(from, to *gitstore.Checkpoint, b budget, paths []string) *Diff {
	d := &Diff{To: v.single(nil, to)}
	compared := v.filesBetween(from, to, paths)
	if from != nil {
		e := v.single(nil, from)
		d.From = &e
		if len(paths) == 0 {
			v.compareRecords(d, from, to, &b)
		}
	}
	if len(paths) > 0 {
		b.file = b.page
	}
	d.showFiles(compared(), &b)
	for i := range d.Files {
		if f := &d.Files[i]; f.Status != "deleted" && !to.Archived {
			f.Blame = v.links.blame(to.Issue, f.paths[0], nameOf(to))
		}
		if f := &d.Files[i]; d.To.Back != "" {
			f.Back = d.To.Back + "?" + url.Values{"path": {pathField(f.paths[0])}}.Encode()
		}
	}
	return d
}

// single returns the entry of a checkpoint, which can be outside of a list.
func (v *visit) single(l *gitstore.List, c *gitstore.Checkpoint) TimelineEntry {
	if l != nil {
		for i := range l.Checkpoints {
			if &l.Checkpoints[i] == c {
				return v.entry(place{l, i})
			}
		}
	}
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

// filesBetween starts a comparison of files and returns a function that waits for its
// result. Git reads the files while the caller compares records.
func (v *visit) filesBetween(from, to *gitstore.Checkpoint, paths []string) (compared func() *changedFiles) {
	between, err := v.repo.Diff(from, to, literal(paths)...)
	if err != nil {
		return func() *changedFiles { return &changedFiles{err: err} }
	}
	done := make(chan *changedFiles, 1)
	go func() {
		var c changedFiles
		c.files, c.patch, c.whole, c.err = between.Changes(v.ctx, maxPatch)
		done <- &c
	}()
	return func() *changedFiles { return <-done }
}

// changedFiles holds changed files and their patches.
type changedFiles struct {
	files []gitstore.FileChange
	patch []byte
	whole bool // patch is complete
	err   error
}

func (d *Diff) showFiles(c *changedFiles, b *budget) {
	if c.err != nil {
		d.FilesTrouble = block(cut(c.err.Error(), maxText))
		return
	}
	d.FilesSay = "no file changed"
	if len(c.files) > 0 {
		d.FilesSay = count(len(c.files), "file") + " changed"
	}
	d.Files, d.Left = fileDiffs(c.files, c.patch, c.whole, b)
	for _, f := range d.Files {
		d.Added, d.Removed = d.Added+f.Added, d.Removed+f.Removed
	}
}

// literal converts paths to literal pathspecs.
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
	switch v := v.(type) {
	case string:
		return !strings.Contains(v, "\n") && len(v) <= maxLine
	case []any:
		return len(v) == 0
	case *checkpoint.Map:
		return v.Len() == 0
	}
	return true
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
