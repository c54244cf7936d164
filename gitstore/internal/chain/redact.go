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
	known    map[string]bool // texts and keys
	Warnings []string
}

// RedactFrom returns a redactor that knows the texts and keys of the previous record. Callers pass the unedited record, or nil.
func RedactFrom(before *checkpoint.Record, how Redaction, allow scan.Allow) *redactor {
	r := &redactor{how: how, allow: allow, known: map[string]bool{}}
	if how != RedactNone && before != nil {
		eachText(before.Doc(), "", func(_, _, text string) string {
			r.known[text] = true
			return text
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
	eachText(record.Doc(), "", func(where, key, text string) string {
		if r.known[text] {
			return text
		}
		masked, rules := scan.Mask(key, text, r.allow)
		if len(rules) == 0 {
			return text
		}
		where, _ = scan.Mask("", where, nil) // the keys come from the caller, too
		if r.how != RedactMask {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s contains a possible secret (%s)", where, strings.Join(rules, ", ")))
			return text
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s contained a possible secret (%s), which was masked", where, strings.Join(rules, ", ")))
		return masked
	})
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

// eachText replaces the texts and keys in a value by results of text, and returns the value. It replaces the
// keys of a mapping after the texts below, since they help to recognize secret texts. where is the place of
// a text in words, and key its key in a mapping, or "". path is "" for the document, otherwise it begins with a dot.
func eachText(v any, path string, text func(where, key, text string) string) any {
	where := strings.TrimPrefix(path, ".")
	switch v := v.(type) {
	case string:
		return text(where, lastKey(where), v)
	case *checkpoint.Map:
		for key, below := range v.All() {
			if path == "" && slices.Contains(noTexts, key) {
				continue
			}
			now := eachText(below, path+"."+key, text)
			if _, isText := below.(string); isText && now != below {
				v.Set(key, now)
			}
		}
		given := map[string]bool{}
		for _, key := range v.Keys() {
			masked := text(strings.TrimSuffix("a key of "+where, " of "), "", key)
			if masked == key {
				continue
			}
			name := masked
			for n := 2; given[name]; n++ { // an equal name from an older save is replaced
				name = fmt.Sprintf("%s-%d", masked, n)
			}
			given[name] = true
			v.Rename(key, name)
		}
	case []any:
		for i := range v {
			v[i] = eachText(v[i], path, text)
		}
	}
	return v
}
