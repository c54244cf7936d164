package codec

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
)

// File is a parsed document of a layout.
type File struct {
	Layout   Name
	Kind     string
	Version  string    // original version, "" if the kind has a single version
	Path     string    // path as passed to Read
	Problems []Problem // rule violations

	Doc *checkpoint.Map // migrated to the newest version

	kind *Kind
	data []byte
}

// Read parses a document. Layout.Read describes the errors.
func (g Registry) Read(as Name, file string, data []byte) (*File, error) {
	base := baseName(file)
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	var system Name
	var k *Kind
	var odd []Problem
	if err == nil {
		system, k = g.findKind(as, m, file)
	} else if t, problems := decodeTolerant(data); t != nil {
		if n, found := g.findKind(as, t, file); found != nil && (found.Whole != nil || IsJSON(data)) {
			m, odd, err, system, k = t, problems, nil, n, found
		}
	}
	if k == nil && (err != nil || g.otherType(m) == "") {
		isLog := func(k *Kind) bool { return k.Log != nil && k.Log(file, data) }
		if system, log := g.find(as, isLog); log != nil {
			f := &File{Layout: system, Kind: log.Name, Path: file, kind: log, data: data, Doc: log.Lines(file, data)}
			if err != nil { // only strict reading rejects the log
				p := syntaxProblem(data, err)
				p.Warning, p.Msg = true, "kept unchanged, its lines are read: "+p.Msg
				f.Problems = append(f.Problems, p)
			}
			f.Problems = append(f.Problems, log.check(f.Doc, base, data)...)
			return f, nil
		}
	}
	if err != nil {
		if name := pointer(data); name != "" {
			return nil, &UnknownDocumentError{Layout: as, File: base, Reason: "it only refers to another file: " + name}
		}
		if base != "" && !slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(path.Ext(base))) {
			return nil, &UnknownDocumentError{Layout: as, File: base, Reason: "neither JSON nor YAML: " + err.Error()}
		}
		return nil, syntaxError(as, base, data, err)
	}
	if k == nil || k.Whole == nil && !IsJSON(data) {
		return nil, &UnknownDocumentError{Layout: as, File: base, Reason: g.otherType(m), Mapping: true}
	}
	f := &File{Layout: system, Kind: k.Name, Path: file, kind: k, data: data, Problems: odd}
	if err := f.take(m, base, base); err != nil {
		return nil, err
	}
	return f, nil
}

// take checks a document and migrates it to the newest version. It fails with *VersionError. Errors name
// the file base, and the rules compare the file name with the id.
func (f *File) take(m *checkpoint.Map, base, name string) error {
	k := f.kind
	if k.Version != nil {
		f.Version = k.Version(m)
	}
	if k.Reads != nil && k.Reads(f.Version) != "" {
		return &VersionError{Layout: f.Layout, File: base, Version: f.Version, Reads: k.Reads(f.Version)}
	}
	f.Problems, f.Doc = append(f.Problems, k.check(m, name, f.data)...), k.migrated(m)
	return nil
}

// check returns the rules that a document violates.
func (k *Kind) check(m *checkpoint.Map, base string, data []byte) []Problem {
	c := &Checker{Doc: m, file: base}
	k.Rules(c)
	place(c.found, data)
	return c.found
}

// decodeTolerant parses a document with irregularities that other parsers accept. It
// returns them as warnings, and nil if the document has none.
func decodeTolerant(data []byte) (*checkpoint.Map, []Problem) {
	var odd []Problem
	m, err := checkpoint.DecodeTolerant(data, checkpoint.DefaultLimits, func(line, column int, msg string) {
		if len(odd) < maxProblems {
			odd = append(odd, Problem{Rule: "syntax", Msg: msg, Line: line, Column: column, Warning: true})
		}
	})
	if err != nil || len(odd) == 0 {
		return nil, nil
	}
	return m, odd
}

// Explain returns an *InvalidError with the rules that a document of the first kind
// violates, nil if it violates no rule.
func (s *System) Explain(file string, data []byte) error {
	f := &File{Layout: s.Name, Path: file, kind: s.Kinds[0]}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	switch {
	case err != nil:
		return syntaxError(s.Name, baseName(f.Path), data, err)
	case f.kind.Whole == nil && !IsJSON(data):
		f.Problems = []Problem{{Rule: "syntax", Msg: "want JSON", Line: 1, Column: 1}}
	default:
		f.Problems = f.kind.check(m, baseName(f.Path), data)
	}
	return f.Err(false)
}

// Err returns an *InvalidError with all problems except warnings, nil if no problem
// remains. With strict, warnings count as problems.
func (f *File) Err(strict bool) error {
	bad := slices.DeleteFunc(slices.Clone(f.Problems), func(p Problem) bool { return p.Warning && !strict })
	if len(bad) == 0 {
		return nil
	}
	return &InvalidError{Layout: f.Layout, File: baseName(f.Path), Problems: bad}
}

// baseName returns the base name of a file, "" for standard input.
func baseName(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(file)
}

// Key returns the issue key of the document, "" if the document has no key.
func (f *File) Key() string { return f.kind.Key(f.Doc) }

// ID returns the checkpoint id of the document. If the document has no id, ID returns the
// file name without extension. The result is "" if neither is a valid id.
func (f *File) ID() checkpoint.ID {
	if f.kind.ID == nil {
		return ""
	}
	base := path.Base(f.Path)
	if base = strings.TrimSuffix(base, path.Ext(base)); f.Path == "" || base == "latest" || base == "state" {
		base = ""
	}
	name := cmp.Or(f.kind.ID(f.Doc), base)
	if dir := path.Base(path.Dir(f.Path)); f.kind.Numbered && dir != "" && strings.Trim(dir, "0123456789") == "" {
		name += "-" + dir // sessions share the id of their checkpoint; each has a numbered folder
	}
	id, err := checkpoint.ParseID(name)
	if err != nil {
		return ""
	}
	return id
}

// Written returns the write time in the document, unparsed; checkpoint.ParseTime may
// reject the value.
func (f *File) Written() any {
	if f.kind.At == nil {
		return nil
	}
	return f.kind.At(f.Doc)
}

// Clock returns the write time of a document that contains only times of day. The result
// is the last of these times, on the UTC date of the file's modification, or on the day before
// if it would be later than the modification. It is zero if the document has no times.
func (f *File) Clock(changed time.Time) time.Time {
	for _, event := range slices.Backward(f.Doc.Maps("events")) {
		at, err := time.Parse("15:04", event.Text("at"))
		if err == nil {
			y, m, d := changed.UTC().Date()
			last := time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, time.UTC)
			if last.After(changed) {
				last = last.AddDate(0, 0, -1)
			}
			return last
		}
	}
	return time.Time{}
}

// Relativize converts absolute paths below a directory to relative paths and removes
// their problems. It returns the number of converted paths.
func (f *File) Relativize(root string) int {
	if root == "" {
		return 0
	}
	was := len(f.Problems)
	n := relativize(f.Doc, strings.TrimSuffix(strings.ReplaceAll(root, `\`, "/"), "/")+"/")
	f.Problems = slices.DeleteFunc(f.Problems, func(p Problem) bool {
		return p.Rule == "place" && !values.Absolute(values.AsText(values.Get(f.Doc, p.Path)))
	})
	return max(n, was-len(f.Problems))
}

func relativize(v any, prefix string) (n int) {
	change := func(v any, set func(string)) {
		if s, ok := v.(string); ok {
			if rest, below := strings.CutPrefix(s, prefix); below && rest != "" && !strings.ContainsAny(rest, "\n\r") {
				set(rest)
				n++
			}
			return
		}
		n += relativize(v, prefix)
	}
	switch v := v.(type) {
	case *checkpoint.Map:
		for key, value := range v.Clone().All() {
			if _, isText := value.(string); !isText {
				value, _ = v.Get(key)
			}
			change(value, func(s string) { v.Set(key, s) })
		}
	case []any:
		for i := range v {
			change(v[i], func(s string) { v[i] = s })
		}
	}
	return n
}

// Trigger returns the trigger for a checkpoint of this document.
func (f *File) Trigger() checkpoint.Trigger {
	if f.kind.Trigger == nil {
		return checkpoint.PhaseTransition
	}
	return f.kind.Trigger(f.Doc)
}

// Heartbeat reports whether the system writes the document repeatedly, also without
// changes.
func (f *File) Heartbeat() bool { return f.kind.Heartbeat }

// Whole reports whether the document is a complete record, with id, time and resume
// point.
func (f *File) Whole() bool { return f.kind.Whole != nil }

// Sequel reports whether another file in the same folder names the document's workflow.
func (f *File) Sequel() bool { return f.kind.Sequel && f.Key() == "" }

// Against compares a document with the preceding record, which may be nil. It fails with
// *InvalidError if the document contradicts the record.
func (f *File) Against(before *checkpoint.Record) error {
	if before == nil || f.kind.Against == nil {
		return nil
	}
	c := &Checker{Doc: f.Doc}
	f.kind.Against(c, before)
	if len(c.found) == 0 {
		return nil
	}
	place(c.found, f.data)
	return &InvalidError{Layout: f.Layout, File: baseName(f.Path), Problems: c.found}
}

// writing is the maximum delay between a document's time and the modification of its
// file.
const writing = 2 * time.Minute

// LooksLocal adds a warning if the write time claims UTC but is probably local time. This
// is the case if its distance from the file's modification time equals the UTC offset of
// zone. The time itself is not changed, because the file may come from another machine.
func (f *File) LooksLocal(changed time.Time, zone *time.Location) {
	text, _ := f.Written().(string)
	at, err := checkpoint.ParseTime(text)
	if err != nil || !strings.HasSuffix(text, "Z") {
		return
	}
	_, seconds := changed.In(zone).Zone()
	off := time.Duration(seconds) * time.Second
	if off == 0 || (at.Sub(changed)-off).Abs() > writing {
		return
	}
	f.Problems = append(f.Problems, Problem{
		Rule: "zone", Warning: true,
		Msg: fmt.Sprintf("%s looks like local time: the file was changed at %s, and clocks stood at %s from UTC then", text,
			changed.UTC().Format(time.RFC3339), changed.In(zone).Format("-07:00")),
	})
}
