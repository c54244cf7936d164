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

	Doc *object // migrated to the newest version

	kind *kind
	data []byte
}

// read parses a document. Layout.Read describes the errors.
func (g registry) read(as Name, file string, data []byte) (*File, error) {
	base := baseName(file)
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	var system Name
	var k *kind
	var odd []Problem
	if err == nil {
		system, k = g.find(as, m, file)
	} else if t, problems := decodeTolerant(data); t != nil {
		if n, found := g.find(as, t, file); found != nil && found.whole != nil {
			m, odd, err, system, k = t, problems, nil, n, found
		}
	}
	if k == nil && (err != nil || g.otherType(m) == "") {
		if system, log := g.findLog(as, file, data); log != nil {
			return readLog(system, log, file, data, err), nil
		}
	}
	if err != nil {
		if name := pointer(data); name != "" {
			return nil, &UnknownDocumentError{Layout: as, File: base, Reason: "it only names another file: " + name}
		}
		return nil, syntaxError(as, base, data, err)
	}
	if k == nil || k.whole == nil && !isJSON(data) {
		return nil, &UnknownDocumentError{Layout: as, File: base, Reason: g.otherType(m)}
	}
	f := &File{Layout: system, Kind: k.name, Path: file, kind: k, data: data}
	if k.version != nil {
		f.Version = k.version(m)
	}
	if k.reads != nil && k.reads(f.Version) != "" {
		return nil, &VersionError{Layout: system, File: base, Version: f.Version, Reads: k.reads(f.Version)}
	}
	f.Problems, f.Doc = append(odd, k.check(m, base, data)...), k.migrated(m)
	return f, nil
}

// check returns the rules that a document violates.
func (k *kind) check(m *object, base string, data []byte) []Problem {
	c := &checker{doc: m, file: base}
	k.rules(c)
	place(c.found, data)
	return c.found
}

// decodeTolerant parses a YAML document with irregularities that other parsers accept. It
// returns them as warnings, and nil if the document has none.
func decodeTolerant(data []byte) (*object, []Problem) {
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

// readLog parses a log. A decoder error becomes a warning, so that only strict reading
// rejects the log.
func readLog(system Name, k *kind, file string, data []byte, syntax error) *File {
	f := &File{Layout: system, Kind: k.name, Path: file, kind: k, data: data, Doc: k.lines(file, data)}
	if syntax != nil {
		p := syntaxProblem(data, syntax)
		p.Warning, p.Msg = true, "kept as it is, its lines are read: "+p.Msg
		f.Problems = append(f.Problems, p)
	}
	f.Problems = append(f.Problems, k.check(f.Doc, baseName(file), data)...)
	return f
}

// explain returns an *InvalidError with the rules that a document of the first kind
// violates, nil if it violates no rule.
func (s *system) explain(file string, data []byte) error {
	f := &File{Layout: s.name, Path: file, kind: s.kinds[0]}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	switch {
	case err != nil:
		return syntaxError(s.name, f.base(), data, err)
	case f.kind.whole == nil && !isJSON(data):
		f.Problems = []Problem{{Rule: "syntax", Msg: "want JSON", Line: 1, Column: 1}}
	default:
		f.Problems = f.kind.check(m, f.base(), data)
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
	return &InvalidError{Layout: f.Layout, File: f.base(), Problems: bad}
}

func (f *File) base() string { return baseName(f.Path) }

// baseName returns the base name of a file, "" for standard input.
func baseName(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(file)
}

// Key returns the issue key of the document, "" if the document has no key.
func (f *File) Key() string { return f.kind.key(f.Doc) }

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
	name := cmp.Or(f.kind.id(f.Doc), base)
	if dir := path.Base(path.Dir(f.Path)); f.kind.numbered && dir != "" && strings.Trim(dir, "0123456789") == "" {
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
	return f.kind.at(f.Doc)
}

// Clock returns the write time of a document that contains only times of day. The result
// is the last of these times, on the UTC date of the file's modification. It is zero if
// the document has no times.
func (f *File) Clock(changed time.Time) time.Time {
	events, _ := get(f.Doc, "events").([]any)
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
	n := relativize(f.Doc, strings.TrimSuffix(strings.ReplaceAll(root, `\`, "/"), "/")+"/")
	f.Problems = slices.DeleteFunc(f.Problems, func(p Problem) bool {
		return p.Rule == "place" && !absolute(textOf(get(f.Doc, p.Path)))
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
	if f.kind.trigger == nil {
		return checkpoint.PhaseTransition
	}
	return f.kind.trigger(f.Doc)
}

// Whole reports whether the document is a complete record, with id, time and resume
// point.
func (f *File) Whole() bool { return f.kind.whole != nil }

// Sequel reports whether another file in the same folder names the document's workflow.
func (f *File) Sequel() bool { return f.kind.sequel && f.Key() == "" }

// Against compares a document with the preceding record, which may be nil. It fails with
// *InvalidError if the document contradicts the record.
func (f *File) Against(before *checkpoint.Record) error {
	if before == nil || f.kind.against == nil {
		return nil
	}
	c := &checker{doc: f.Doc}
	f.kind.against(c, before)
	if len(c.found) == 0 {
		return nil
	}
	place(c.found, f.data)
	return &InvalidError{Layout: f.Layout, File: f.base(), Problems: c.found}
}
