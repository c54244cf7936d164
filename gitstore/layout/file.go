package layout

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// File is a parsed document of a layout.
type File struct {
	Layout   Name
	Kind     string
	Version  string    // original version, "" if the kind has a single version
	Path     string    // path as passed to Read
	Problems []Problem // rule violations

	kind *kind
	doc  *object // migrated to the newest version
	data []byte
}

// Read parses a document of layout as, or of any matching layout if as is "". The
// slash-separated path file is the origin of the document and may be empty.
//
// Read fails with *InvalidError, *UnknownDocumentError or *VersionError if the document
// is unreadable. A document that violates rules is returned with its Problems; Err
// reports whether it is usable.
func Read(as Name, file string, data []byte) (*File, error) {
	base := path.Base(file)
	if file == "" {
		base = ""
	}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	var k *kind
	var odd []Problem
	if err == nil {
		k = find(as, m, file)
	} else if t, found, among := tolerated(as, file, data); among != nil {
		m, k, odd, err = t, among, found, nil
	}
	if k == nil && (err != nil || reasonAgainst(m) == "") && isStoryLog(as, file, data) {
		return readStoryLog(file, data, err), nil
	}
	if err != nil {
		if name := pointer(data); name != "" {
			return nil, &UnknownDocumentError{Layout: as, File: base, Reason: "it only names another file: " + name}
		}
		return nil, syntaxError(as, base, data, err)
	}
	if k == nil || !k.whole && !isJSON(data) {
		return nil, &UnknownDocumentError{Layout: as, File: base, Reason: reasonAgainst(m)}
	}
	f := &File{Layout: k.layout, Kind: k.name, Path: file, kind: k, data: data}
	if k.older != nil {
		f.Version = k.older(m)
	}
	if err := f.readable(base); err != nil {
		return nil, err
	}
	c := &checker{doc: m, file: base}
	k.rules(c)
	place(c.found, data)
	f.Problems, f.doc = append(odd, c.found...), k.migrated(m)
	return f, nil
}

// tolerated parses a YAML record with irregularities that other parsers accept. It
// returns them as warnings.
func tolerated(as Name, file string, data []byte) (*object, []Problem, *kind) {
	var odd []Problem
	m, err := checkpoint.DecodeTolerant(data, checkpoint.DefaultLimits, func(line, column int, msg string) {
		if len(odd) < maxProblems {
			odd = append(odd, Problem{Rule: "syntax", Msg: msg, Line: line, Column: column, Warning: true})
		}
	})
	if err != nil || len(odd) == 0 {
		return nil, nil, nil
	}
	k := find(as, m, file)
	if k == nil || !k.whole {
		return nil, nil, nil
	}
	return m, odd, k
}

// Explain returns an *InvalidError with the rules that a document violates, as if it were
// a checkpoint of the layout. It returns nil if the document violates no rule.
func Explain(as Name, file string, data []byte) error {
	f := &File{Layout: as, Path: file, kind: as.kinds()[0], data: data}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	switch {
	case err != nil:
		return syntaxError(as, f.base(), data, err)
	case !f.kind.whole && !isJSON(data):
		return &InvalidError{Layout: as, File: f.base(), Problems: []Problem{{Rule: "syntax", Msg: "want JSON", Line: 1, Column: 1}}}
	}
	c := &checker{doc: m, file: f.base()}
	f.kind.rules(c)
	place(c.found, data)
	f.Problems = c.found
	return f.Err(false)
}

// find returns the kind of a document in one layout, or in all layouts if as is "".
func find(as Name, m *object, file string) *kind {
	names := Names()
	if as != "" {
		names = []Name{as}
	}
	for _, n := range names {
		if k := n.kindOf(m, file); k != nil {
			return k
		}
	}
	return nil
}

// Err returns an *InvalidError with all problems except warnings, nil if no problem
// remains. With strict, warnings count as problems.
func (f *File) Err(strict bool) error {
	bad := slices.DeleteFunc(slices.Clone(f.Problems), func(p Problem) bool { return p.Warning && !strict })
	if len(bad) == 0 {
		return nil
	}
	return &InvalidError{Layout: f.Layout, File: f.base(), Problems: bad}
}

// base returns the base name of the file, "" for standard input.
func (f *File) base() string {
	if f.Path == "" {
		return ""
	}
	return path.Base(f.Path)
}

// Key returns the issue key of the document, "" if the document has no key.
func (f *File) Key() string { return f.kind.key(f.doc) }

// ID returns the checkpoint id of the document. If the document has no id, ID returns the
// file name without extension. The result is "" if neither is a valid id.
func (f *File) ID() checkpoint.ID {
	if f.kind.id == nil {
		return ""
	}
	base := path.Base(f.Path)
	if base = strings.TrimSuffix(base, path.Ext(base)); f.Path == "" || base == "latest" || base == "state" {
		base = ""
	}
	name := cmp.Or(f.kind.id(f.doc), base)
	if dir := path.Base(path.Dir(f.Path)); f.Layout == Entire && dir != "" && strings.Trim(dir, "0123456789") == "" {
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
	if f.kind.at == nil {
		return nil
	}
	return f.kind.at(f.doc)
}

// Clock returns the write time of a document that contains only times of day. The result
// is the last of these times, on the UTC date of the file's modification. It is zero if
// the document has no times.
func (f *File) Clock(changed time.Time) time.Time {
	events, _ := get(f.doc, "events").([]any)
	for _, e := range slices.Backward(events) {
		event, _ := e.(*object)
		at, err := time.Parse("15:04", text(event, "at"))
		if err == nil {
			y, m, d := changed.UTC().Date()
			return time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, time.UTC)
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
	n := relativize(f.doc, strings.TrimSuffix(strings.ReplaceAll(root, `\`, "/"), "/")+"/")
	f.Problems = slices.DeleteFunc(f.Problems, func(p Problem) bool {
		return p.Rule == "place" && !absolute(textOf(get(f.doc, p.Path)))
	})
	return max(n, was-len(f.Problems))
}

// relativize converts the texts of a document.
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
	case *object:
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
	if f.kind.cause == nil {
		return checkpoint.PhaseTransition
	}
	return f.kind.cause(f.doc)
}

// Whole reports whether the document is a complete record, with id, time and resume
// point.
func (f *File) Whole() bool { return f.kind.whole }

// Sequel reports whether another file in the same folder names the document's workflow.
func (f *File) Sequel() bool { return f.Layout == Dotagent && f.Kind == "execution" && f.Key() == "" }

// readable fails with *VersionError if the version is unsupported.
func (f *File) readable(base string) error {
	reads := ""
	switch f.Layout {
	case Crunch:
		if major, _, _ := strings.Cut(f.Version, "."); major != "" && major != "1" {
			reads = "version 1"
		}
	case Claude:
		reads = claudeReads(f.Kind, f.Version)
	}
	if reads == "" {
		return nil
	}
	return &VersionError{Layout: f.Layout, File: base, Version: f.Version, Reads: reads}
}
