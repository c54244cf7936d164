// Package scan looks for secrets in text: keys with a form of their own,
// passwords in URLs, private keys, and values that are called a secret and
// look random.
//
// A finding names the rule and the line, never the secret. A line that says
// checkpoint:allow or gitleaks:allow is left alone.
package scan

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"sync"
)

// A Finding is where something looks like a secret.
type Finding struct {
	Rule string
	Line int // from 1
}

// maxFindings bounds what is reported of one text.
const maxFindings = 100

// window is how much of a line is looked at at once, and overlap how much of
// it again: lines of generated files have no end.
const (
	window  = 64 << 10
	overlap = 4 << 10
)

// Text looks for secrets in the content of a file. Binary ones have none.
func Text(name string, data []byte) []Finding {
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil
	}
	candidates := likely(data)
	if len(candidates) == 0 {
		return nil
	}
	var found []Finding
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if allowed(text) {
			continue
		}
		for _, r := range candidates {
			if r.inLine(text) {
				found = append(found, Finding{Rule: r.name, Line: line})
			}
			if len(found) == maxFindings {
				return found
			}
		}
	}
	return found
}

func allowed(line []byte) bool {
	return bytes.Contains(line, []byte("checkpoint:allow")) || bytes.Contains(line, []byte("gitleaks:allow"))
}

// likely are the rules of which a word is in the text: regular expressions are
// slow, and made when they are needed.
func likely(data []byte) []*rule {
	var rules []*rule
	lower := bytes.ToLower(data)
	all := table()
	for i := range all {
		if all[i].mentioned(lower) {
			rules = append(rules, &all[i])
		}
	}
	return rules
}

// A rule is one form of secret.
type rule struct {
	name    string
	words   []string // in lower case; one of them is in every match
	pattern func() *regexp.Regexp
	random  float64 // bits of entropy for a character that the last group must have, 0 for any
	digits  bool    // it must have a digit, too: names in code have none
}

func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func (r *rule) mentioned(lower []byte) bool {
	for _, w := range r.words {
		if bytes.Contains(lower, []byte(w)) {
			return true
		}
	}
	return false
}

func (r *rule) inLine(line []byte) bool {
	if !r.mentioned(bytes.ToLower(line)) {
		return false
	}
	for from := 0; ; from += window - overlap {
		part := line[from:min(len(line), from+window)]
		for _, m := range r.pattern().FindAllSubmatch(part, -1) {
			if r.fits(string(m[len(m)-1])) {
				return true
			}
		}
		if from+window >= len(line) {
			return false
		}
	}
}

func (r *rule) fits(value string) bool {
	return !placeholder(value) && entropy(value) >= r.random && (!r.digits || strings.ContainsAny(value, "0123456789"))
}

// placeholder reports a value that stands for one.
func placeholder(s string) bool {
	lower := strings.ToLower(s)
	for _, w := range []string{"example", "changeme", "placeholder", "your_", "your-", "xxxx", "****", "redacted", "${", "{{", "<", "%s", "%[", "%v", "dummy"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return lower == "password" || lower == "secret" || lower == "pass" || lower == "token"
}

// entropy is Shannon's, in bits for a character.
func entropy(s string) float64 {
	counts := map[rune]int{}
	for _, r := range s {
		counts[r]++
	}
	bits := 0.0
	for _, n := range counts {
		p := float64(n) / float64(len([]rune(s)))
		bits -= p * math.Log2(p)
	}
	return bits
}
