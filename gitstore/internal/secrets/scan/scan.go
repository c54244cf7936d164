// Package scan searches data for secrets before it is written or published: keys with
// a distinctive format, passwords in URLs, private keys, and random values with a
// secret's name. It also reports paths with a user's home directory, which are
// informational only.
//
// A finding contains rule and line number, never the secret. Lines with checkpoint:allow
// or gitleaks:allow are skipped.
package scan

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"sync"
)

// A Finding is the position of a possible secret.
type Finding struct {
	Rule string
	Line int // starts at 1
}

// maxFindings limits findings of one text.
const maxFindings = 100

// window is the number of bytes of a line matched at once, and overlap the number matched
// again. Lines of generated files may be very long.
const (
	window  = 64 << 10
	overlap = 4 << 10
)

// IsInformational reports whether a rule is informational only.
func IsInformational(rule string) bool {
	r := named(rule)
	return r != nil && r.informational
}

func named(name string) *rule {
	all := table()
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

// A searcher scans a text in pieces.
type searcher struct {
	binary bool // use only rules with a distinctive format
	line   int  // number of complete lines
	onLine set  // rules that matched on the current line
	found  []Finding
	lower  []byte
}

// lines scans a piece of text: complete lines or, if a line is very long, part of that
// line. Each further part starts with the end of the previous part.
func (s *searcher) lines(data []byte) {
	s.lower = lowered(s.lower, data)
	if s.wanted(s.lower) == 0 {
		s.line += bytes.Count(data, []byte{'\n'})
		return
	}
	for at := 0; at < len(data) && len(s.found) < maxFindings; {
		end := len(data)
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		s.inLine(data[at:end], s.lower[at:end])
		if data[end-1] == '\n' {
			s.line++
			s.onLine = 0
		}
		at = end
	}
}

// wanted returns rules that may match.
func (s *searcher) wanted(lower []byte) set {
	found := mentioned(lower)
	if s.binary {
		found &^= words().vague
	}
	return found
}

// inLine scans a line or part of a line.
func (s *searcher) inLine(line, lower []byte) {
	candidates := s.wanted(lower) &^ s.onLine
	if candidates == 0 || bytes.Contains(lower, []byte("checkpoint:allow")) || bytes.Contains(lower, []byte("gitleaks:allow")) {
		return
	}
	for i := range table() {
		r, one := &table()[i], set(1)<<i
		if r.digits && s.onLine != 0 {
			continue // another rule already identified the value by its format
		}
		if candidates&one != 0 && r.in(line) && len(s.found) < maxFindings {
			s.onLine |= one
			s.found = append(s.found, Finding{Rule: r.name, Line: s.line + 1})
		}
	}
}

// lowered converts ASCII letters to lower case.
func lowered(into, data []byte) []byte {
	into = append(into[:0], data...)
	for i, c := range into {
		if 'A' <= c && c <= 'Z' {
			into[i] = c + 'a' - 'A'
		}
	}
	return into
}

// A rule is one kind of secret.
type rule struct {
	name          string
	words         []string // lower-case keywords; each match contains at least one
	pattern       func() *regexp.Regexp
	random        float64 // minimum entropy of the last group in bits per character, 0 for any value
	digits        bool    // must contain a digit, unlike most identifiers in code
	loose         bool    // pattern also matches much other data
	informational bool    // informational, not a secret
}

// vague reports whether a rule is too imprecise for binary data.
func (r *rule) vague() bool { return r.loose || r.random > 0 }

func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// in reports whether the rule matches a line.
func (r *rule) in(line []byte) bool {
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
	if r.informational {
		return !anybody(value)
	}
	return !placeholder(value) && entropy(value) >= r.random && (!r.digits || strings.ContainsAny(value, "0123456789"))
}

// placeholder reports whether a value is a placeholder instead of a secret.
func placeholder(s string) bool {
	lower := strings.ToLower(s)
	for _, w := range []string{"example", "changeme", "placeholder", "your_", "your-", "xxxx", "****", "redacted", "${", "{{", "<", "%s", "%[", "%v", "dummy"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return lower == "password" || lower == "secret" || lower == "pass" || lower == "token"
}

// anybody reports whether a home directory has a generic name.
func anybody(user string) bool {
	switch strings.ToLower(user) {
	case "user", "username", "users", "you", "me", "name", "someone", "example", "runner", "runneradmin", "ubuntu", "vagrant",
		"circleci", "travis", "jenkins", "builder", "build", "node", "app", "dev", "git", "vscode", "codespace", "linuxbrew",
		"shared", "public", "default", "root", "..", "...":
		return true
	}
	return false
}

// entropy returns Shannon entropy in bits per character.
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

// A set contains rules, as bits by table index.
type set uint64

// A dictionary finds keywords of all rules in one pass over a text.
type dictionary struct {
	begins [1 << 16]uint8 // bucket by the first two bytes of a word, 0 if empty
	bucket [][]word
	vague  set
}

type word struct {
	text []byte
	rule int
}

var words = sync.OnceValue(func() *dictionary {
	d := &dictionary{bucket: [][]word{nil}}
	all := table()
	for i := range all {
		if all[i].vague() {
			d.vague |= 1 << i
		}
		for _, w := range all[i].words {
			d.add(word{[]byte(w), i})
		}
	}
	return d
})

func (d *dictionary) add(w word) {
	at := pair(w.text[0], w.text[1])
	if d.begins[at] == 0 {
		d.begins[at] = uint8(len(d.bucket))
		d.bucket = append(d.bucket, nil)
	}
	d.bucket[d.begins[at]] = append(d.bucket[d.begins[at]], w)
}

func pair(a, b byte) int { return int(a)<<8 | int(b) }

// mentioned returns rules with a keyword in a lower-case text. This avoids slow regular
// expressions, which are compiled on first use.
func mentioned(lower []byte) set {
	d := words()
	var found set
	for i := 0; i+1 < len(lower); i++ {
		b := d.begins[pair(lower[i], lower[i+1])]
		if b == 0 {
			continue
		}
		for _, w := range d.bucket[b] {
			if bytes.HasPrefix(lower[i:], w.text) {
				found |= 1 << w.rule
			}
		}
	}
	return found
}

// rules returns the rules of a set in table order.
func (s set) rules() []*rule {
	var list []*rule
	all := table()
	for i := range all {
		if s&(1<<i) != 0 {
			list = append(list, &all[i])
		}
	}
	return list
}
