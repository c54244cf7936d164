package gitstore

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/scan"
)

// A Redaction says what a save does where a text of its record looks like a
// secret. Files are never changed: a push is stopped by what is in them.
type Redaction int

// What a save does about secrets.
const (
	RedactNone Redaction = iota // nothing
	RedactWarn                  // tell of them
	RedactMask                  // and save a mask instead
)

// A redactor looks at the texts that a save brings into a record. Those that
// were in the one before have been looked at.
type redactor struct {
	how      Redaction
	allow    scan.Allow
	known    map[string]bool // texts
	keys     map[string]bool // and keys
	warnings []string
}

// redactFrom notes what of a record, nil for none, may look like a secret,
// before it is edited.
func redactFrom(before *checkpoint.Record, how Redaction, allow scan.Allow) *redactor {
	r := &redactor{how: how, allow: allow, known: map[string]bool{}, keys: map[string]bool{}}
	if how != RedactNone && before != nil {
		eachMap(before.Doc(), "", func(_ string, m *checkpoint.Map) {
			for key := range m.All() {
				if scan.Suspicious(key) {
					r.keys[key] = true
				}
			}
		})
		eachText(before.Doc(), "", func(_, text string) string {
			if scan.Suspicious(text) {
				r.known[text] = true
			}
			return text
		})
	}
	return r
}

// apply masks what is new in the record, before anything of it is written.
func (r *redactor) apply(record *checkpoint.Record) {
	r.warnings = nil
	if r.how == RedactNone {
		return
	}
	eachText(record.Doc(), "", func(path, text string) string {
		if r.known[text] {
			return text
		}
		masked, rules := scan.Mask(lastKey(path), text, r.allow)
		if len(rules) == 0 {
			return text
		}
		path, _ = scan.Mask("", path, nil) // its keys are the caller's, too
		if r.how != RedactMask {
			r.warnings = append(r.warnings, fmt.Sprintf("%s holds what looks like a secret (%s)", path, strings.Join(rules, ", ")))
			return text
		}
		r.warnings = append(r.warnings, fmt.Sprintf("%s held what looks like a secret (%s), and was saved without it", path, strings.Join(rules, ", ")))
		return masked
	})
	eachMap(record.Doc(), "", r.inKeys)
}

// name tells of a name that looks like a secret and is new. It stays as it is, or
// nothing would find the work again: a push is stopped by it.
func (r *redactor) name(what, text string) {
	if r.how == RedactNone || r.known[text] || !scan.Suspicious(text) {
		return
	}
	if _, rules := scan.Mask("", text, r.allow); len(rules) > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("%s looks like a secret (%s), and no push takes the checkpoint", what, strings.Join(rules, ", ")))
	}
}

// inKeys masks the keys of a mapping that are new, after the texts that they
// tell of.
func (r *redactor) inKeys(path string, m *checkpoint.Map) {
	given := map[string]bool{}
	for _, key := range m.Keys() {
		if r.keys[key] {
			continue
		}
		masked, rules := scan.Mask("", key, r.allow)
		if len(rules) == 0 {
			continue
		}
		where, found := "a key", strings.Join(rules, ", ")
		if path != "" {
			path, _ = scan.Mask("", path, nil)
			where = "a key of " + path
		}
		if r.how != RedactMask {
			r.warnings = append(r.warnings, fmt.Sprintf("%s looks like a secret (%s)", where, found))
			continue
		}
		r.warnings = append(r.warnings, fmt.Sprintf("%s looked like a secret (%s), and was saved under another name", where, found))
		name := masked
		for n := 2; given[name]; n++ { // one that an older save was given goes
			name = fmt.Sprintf("%s-%d", masked, n)
		}
		given[name] = true
		m.Rename(key, name)
	}
}

// lastKey is the key of a text, "" where it is the name of a file: what stands
// there tells of the file.
func lastKey(path string) string {
	if strings.Contains(path, "/") {
		return ""
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// eachMap gives f every mapping in a document with the path that leads to it,
// those below one before it.
func eachMap(v any, path string, f func(path string, m *checkpoint.Map)) {
	switch v := v.(type) {
	case *checkpoint.Map:
		for key, below := range v.All() {
			eachMap(below, strings.TrimPrefix(path+"."+key, "."), f)
		}
		f(path, v)
	case []any:
		for i := range v {
			eachMap(v[i], path, f)
		}
	}
}

// noTexts are the keys of which the value is no text of anybody's.
var noTexts = []string{"version", "checkpoint_id", "issue_number", "created_at", "clock", "trigger"}

// eachText replaces every text in a document by what f makes of it.
func eachText(m *checkpoint.Map, dir string, f func(path, text string) string) {
	for key, v := range m.All() {
		if dir == "" && slices.Contains(noTexts, key) {
			continue
		}
		if now, changed := replaceTexts(v, dir+key, f); changed {
			m.Set(key, now)
		}
	}
}

// replaceTexts returns a value with its texts replaced, and whether it has to
// be put where the old one was.
func replaceTexts(v any, path string, f func(path, text string) string) (any, bool) {
	switch v := v.(type) {
	case string:
		now := f(path, v)
		return now, now != v
	case *checkpoint.Map:
		eachText(v, path+".", f)
	case []any:
		for i := range v {
			v[i], _ = replaceTexts(v[i], path, f)
		}
	}
	return v, false
}
