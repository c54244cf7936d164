package secrets

import (
	"slices"
	"strings"
)

// Masked stands for a secret of a rule.
func Masked(rule string) string { return "[redacted:" + rule + "]" }

// Record is the path of a record, of which Mask takes the texts.
const Record = "checkpoint.yaml"

// Mask replaces what looks like a secret in the text under a key of a record,
// and is not allowed, and names the rules that found something. A text without
// one is given back as it is.
func Mask(key, text string, allow Allow) (masked string, rules []string) {
	const between = ": "
	candidates := mentioned(lowered(nil, []byte(key+between+text)))
	if candidates == 0 {
		return text, nil
	}
	before, other := len(key)+len(between), false
	for _, r := range candidates.rules() {
		if r.told || r.digits && other {
			continue // as in a line: that it is called a secret says no more than its form did
		}
		found := r.mask(key+between+text, before)
		if found == text {
			continue
		}
		if allow.Has(r.name, Record) {
			other = true
			continue
		}
		text, rules = found, append(rules, r.name)
	}
	return text, rules
}

// mask is the text from an offset on, with a mask for every secret in it.
func (r *rule) mask(text string, from int) string {
	var b strings.Builder
	at := from
	for _, m := range r.pattern().FindAllStringSubmatchIndex(text, -1) {
		start, end := m[len(m)-2], m[len(m)-1]
		if start < at || !r.fits(text[start:end]) || r.allowedAt(text, start, end) {
			continue
		}
		if r.name == privateKey {
			end = endOfKey(text, end)
		}
		b.WriteString(text[at:start])
		b.WriteString(Masked(r.name))
		at = end
	}
	b.WriteString(text[at:])
	return b.String()
}

// allowedAt reports whether the line says that it may stay.
func (r *rule) allowedAt(text string, start, end int) bool {
	from := strings.LastIndexByte(text[:start], '\n') + 1
	if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
		text = text[:end+n]
	}
	return slices.ContainsFunc([]string{"checkpoint:allow", "gitleaks:allow"}, func(mark string) bool {
		return strings.Contains(text[from:], mark)
	})
}

// privateKey is the rule of which the match is the first line only.
const privateKey = "private-key"

// endOfKey is where a private key ends: after its last line, or with the text.
func endOfKey(text string, from int) int {
	const last = "-----END "
	at := strings.Index(text[from:], last)
	if at < 0 {
		return len(text)
	}
	from += at + len(last)
	if at = strings.Index(text[from:], "-----"); at < 0 {
		return len(text)
	}
	return from + at + len("-----")
}

// Suspicious reports whether a text has a word that a secret comes with. Nearly
// none has one, and of those nearly none has a secret.
func Suspicious(text string) bool { return mentioned(lowered(nil, []byte(text))) != 0 }
