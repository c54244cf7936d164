package chain

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/secrets/scan"
)

// A Redaction selects how saves treat record texts that look like secrets.
type Redaction int

// How saves treat secrets.
const (
	RedactNone Redaction = iota // no check
	RedactWarn                  // warn
	RedactMask                  // warn, and save a mask instead
)

// A redactor checks texts that a save adds to a record. Texts from previous records were
// checked earlier.
type redactor struct {
	how      Redaction
	allow    scan.Allow
	known    map[string]bool // known texts
	keys     map[string]bool // known keys
	Warnings []string
}

// RedactFrom returns a redactor that knows the texts and keys of the previous record. Callers pass the unedited record, or nil.
func RedactFrom(before *checkpoint.Record, how Redaction, allow scan.Allow) *redactor {
	r := &redactor{how: how, allow: allow, known: map[string]bool{}, keys: map[string]bool{}}
	if how != RedactNone && before != nil {
		eachText(before.Doc(), "", func(_, text string) string {
			r.known[text] = true
			return text
		}, func(_ string, m *checkpoint.Map) {
			for key := range m.All() {
				r.keys[key] = true
			}
		})
	}
	return r
}

// Apply masks new texts and keys of a record before writing.
func (r *redactor) Apply(record *checkpoint.Record) {
	r.Warnings = nil
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
		path, _ = scan.Mask("", path, nil) // the keys come from the caller, too
		if r.how != RedactMask {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s contains a possible secret (%s)", path, strings.Join(rules, ", ")))
			return text
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s contained a possible secret (%s), which was masked", path, strings.Join(rules, ", ")))
		return masked
	}, r.inKeys)
}

// Name warns if a new name looks like a secret. The name stays, because users need it to
// find the work again. A push will fail because of it.
func (r *redactor) Name(what, text string) {
	if r.how == RedactNone || r.known[text] {
		return
	}
	if _, rules := scan.Mask("", text, r.allow); len(rules) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s is a possible secret (%s); the checkpoint will not be pushed", what, strings.Join(rules, ", ")))
	}
}

// inKeys masks new keys of a mapping. It runs after the masking of the texts below, since keys help
// to recognize secret texts.
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
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s is a possible secret (%s)", where, found))
			continue
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s was a possible secret (%s), and was renamed", where, found))
		name := masked
		for n := 2; given[name]; n++ { // an equal name from an older save is replaced
			name = fmt.Sprintf("%s-%d", masked, n)
		}
		given[name] = true
		m.Rename(key, name)
	}
}

// lastKey returns the key of a text, or "" if the key is a file name: then the text
// describes the file.
func lastKey(path string) string {
	if strings.Contains(path, "/") {
		return ""
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// noTexts lists keys without free text values.
var noTexts = []string{"version", "checkpoint_id", "issue_number", "created_at", "clock", "trigger"}

// eachText replaces the texts in a value by results of text, and returns the value. It calls keys
// with each mapping after its texts and the mappings below it. path is "" for the document, otherwise it begins with
// a dot, which text and keys do not get.
func eachText(v any, path string, text func(path, text string) string, keys func(path string, m *checkpoint.Map)) any {
	switch v := v.(type) {
	case string:
		return text(strings.TrimPrefix(path, "."), v)
	case *checkpoint.Map:
		for key, below := range v.All() {
			if path == "" && slices.Contains(noTexts, key) {
				continue
			}
			now := eachText(below, path+"."+key, text, keys)
			if _, isText := below.(string); isText && now != below {
				v.Set(key, now)
			}
		}
		keys(strings.TrimPrefix(path, "."), v)
	case []any:
		for i := range v {
			v[i] = eachText(v[i], path, text, keys)
		}
	}
	return v
}
