package scan

import (
	"regexp"
	"strings"
	"sync"
)

// Record is the path of a record, whose texts Mask processes.
const Record = "checkpoint.yaml"

// Mask replaces secrets in a record's text, unless allowed, and returns the rules that
// matched. key is the text's key in the record. A text without secrets is returned
// unchanged.
func Mask(key, text string, allow Allow) (masked string, rules []string) {
	const between = ": "
	candidates := mentioned(lowered(nil, []byte(key+between+text)))
	if candidates == (set{}) {
		return text, nil
	}
	before, other := len(key)+len(between), false
	for i := range table() {
		r := &table()[i]
		if !candidates.has(i) || r.informational || r.weak && other {
			continue // as in inLine: another rule already identified the value by its format
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

// mask returns the text from an offset, with every secret replaced.
func (r *rule) mask(text string, from int) string {
	var b strings.Builder
	at := from
	for _, m := range r.pattern().FindAllStringSubmatchIndex(text, -1) {
		start, end := lastGroup(m)
		line := strings.LastIndexByte(text[:start], '\n') + 1
		rest, _, _ := strings.Cut(text[end:], "\n")
		if start < at || !r.fits(text[start:end]) || isAllowed(text[line:end]+rest) {
			continue
		}
		if r.name == privateKey {
			if last := lastLine().FindStringIndex(text[end:]); last != nil {
				end += last[1]
			} else {
				end = len(text)
			}
		}
		b.WriteString(text[at:start])
		b.WriteString("[redacted:" + r.name + "]")
		at = end
	}
	b.WriteString(text[at:])
	return b.String()
}

// privateKey is the rule that matches only the first line of a key.
const privateKey = "private-key"

var lastLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-----END (?s:.*?)-----`) })
