// Package secrets looks for secrets in what is about to be written or shown: keys
// with a form of their own, passwords in URLs, private keys, and values that
// are called a secret and look random. It also tells of paths that name a
// person's folder on a machine, which stop nothing.
//
// A finding names the rule and the line, never the secret. A line that says
// checkpoint:allow or gitleaks:allow is left alone.
package secrets

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

// Told reports whether a rule only tells of something, and stops nothing.
func Told(rule string) bool {
	r := named(rule)
	return r != nil && r.told
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

// A searcher goes through a text piece by piece.
type searcher struct {
	binary bool // nothing but what has a form of its own
	line   int  // lines that are complete
	onLine set  // what was found on the line already
	found  []Finding
	lower  []byte
}

// lines looks at a piece of the text: whole lines, or where one is too long a
// part of it, which begins with the end of the part before.
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

// wanted are the rules that may find something.
func (s *searcher) wanted(lower []byte) set {
	found := mentioned(lower)
	if s.binary {
		found &^= words().vague
	}
	return found
}

// inLine looks at one line, or at a part of it.
func (s *searcher) inLine(line, lower []byte) {
	candidates := s.wanted(lower) &^ s.onLine
	if candidates == 0 || bytes.Contains(lower, []byte("checkpoint:allow")) || bytes.Contains(lower, []byte("gitleaks:allow")) {
		return
	}
	for i := range table() {
		r, one := &table()[i], set(1)<<i
		if r.digits && s.onLine != 0 {
			continue // that it is called a secret says no more than its form did
		}
		if candidates&one != 0 && r.in(line) && len(s.found) < maxFindings {
			s.onLine |= one
			s.found = append(s.found, Finding{Rule: r.name, Line: s.line + 1})
		}
	}
}

// lowered makes the letters of ASCII small, byte for byte.
func lowered(into, data []byte) []byte {
	into = append(into[:0], data...)
	for i, c := range into {
		if 'A' <= c && c <= 'Z' {
			into[i] = c + 'a' - 'A'
		}
	}
	return into
}

// A rule is one form of secret.
type rule struct {
	name    string
	words   []string // in lower case; one of them is in every match
	pattern func() *regexp.Regexp
	random  float64 // bits of entropy for a character that the last group must have, 0 for any
	digits  bool    // it must have a digit, too: names in code have none
	loose   bool    // much else has its form
	told    bool    // it is no secret, and worth a look
}

// vague reports a rule that means nothing where there is no text.
func (r *rule) vague() bool { return r.loose || r.random > 0 }

func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// in reports whether a line has what the rule is about.
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
	if r.told {
		return !anybody(value)
	}
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

// anybody reports the name of a folder that is on many machines.
func anybody(user string) bool {
	switch strings.ToLower(user) {
	case "user", "username", "users", "you", "me", "name", "someone", "example", "runner", "runneradmin", "ubuntu", "vagrant",
		"circleci", "travis", "jenkins", "builder", "build", "node", "app", "dev", "git", "vscode", "codespace", "linuxbrew",
		"shared", "public", "default", "root", "..", "...":
		return true
	}
	return false
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
