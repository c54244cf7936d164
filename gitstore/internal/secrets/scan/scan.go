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
	"slices"
	"strings"
	"sync"
)

// A Finding is the position of a possible secret.
type Finding struct {
	Rule string
	Line int // starts at 1
}

const maxFindings = 100

// window is the number of bytes of a line matched at once, and overlap the number matched
// again. Lines of generated files may be very long.
const (
	window  = 64 << 10
	overlap = 4 << 10
)

// IsInformational reports whether a rule is informational only.
func IsInformational(name string) bool {
	return slices.ContainsFunc(table(), func(r rule) bool { return r.name == name && r.informational })
}

// A searcher scans a text in pieces.
type searcher struct {
	binary bool // use only rules with a distinctive format
	line   int  // number of complete lines
	onLine set  // rules that matched on the current line
	found  []Finding
	buf    []byte
	lower  []byte // buffer of lines
	hits   []hit  // likewise
}

// lines scans a piece of text: complete lines or, if a line is very long, part of that
// line. Each further part starts with the end of the previous part.
func (s *searcher) lines(data []byte) {
	s.lower = lowered(s.lower, data)
	s.hits = words().hits(s.hits[:0], s.lower)
	start := 0 // of the line that contains the hit
	for i := 0; i < len(s.hits) && len(s.found) < maxFindings; {
		at := int(s.hits[i].at)
		start += s.pass(data[start:at])
		end := len(data)
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		var candidates set
		for ; i < len(s.hits) && int(s.hits[i].at) < end; i++ {
			candidates.add(int(s.hits[i].rule))
		}
		s.inLine(data[start:end], s.lower[start:end], candidates)
		start += s.pass(data[start:end])
	}
	s.pass(data[start:])
}

// pass counts the complete lines at the start of a text, and returns their length.
func (s *searcher) pass(text []byte) int {
	end := bytes.LastIndexByte(text, '\n') + 1
	if end > 0 {
		s.line += bytes.Count(text[:end], []byte{'\n'})
		s.onLine = set{}
	}
	return end
}

// inLine scans a line or part of a line with the rules whose keywords it contains.
func (s *searcher) inLine(line, lower []byte, candidates set) {
	candidates = candidates.without(s.onLine)
	if s.binary {
		candidates = candidates.without(words().vague)
	}
	if candidates == (set{}) || isAllowed(string(lower)) {
		return
	}
	for i := range table() {
		if !candidates.has(i) || len(s.found) == maxFindings {
			continue
		}
		r := &table()[i]
		if r.weak && s.onLine != (set{}) {
			continue // another rule already identified the value by its format
		}
		if r.in(line) {
			s.onLine.add(i)
			s.found = append(s.found, Finding{Rule: r.name, Line: s.line + 1})
		}
	}
}

// isAllowed reports whether a line has a comment that allows its secrets.
func isAllowed(line string) bool {
	return strings.Contains(line, "checkpoint:allow") || strings.Contains(line, "gitleaks:allow")
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
	keywords      []word   // further keywords
	pattern       func() *regexp.Regexp
	random        float64 // minimum entropy of the last group in bits per character, 0 for any value
	byAlphabet    bool    // the minimum is lower if the value has few different characters
	digits        bool    // must contain a digit, unlike most identifiers in code
	weak          bool    // applies only if no other rule matches
	loose         bool    // pattern also matches much other data
	informational bool    // informational, not a secret
}

// pattern returns a regular expression, compiled at its first use. A boundary of words at its
// start is replaced by textBefore.
func pattern(expr string) func() *regexp.Regexp {
	if secret, ok := strings.CutPrefix(expr, `\b(`); ok {
		expr = textBefore + "(" + secret
	}
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// in reports whether the rule matches a line.
func (r *rule) in(line []byte) bool {
	for from := 0; ; from += window - overlap {
		part := line[from:min(len(line), from+window)]
		for _, m := range r.pattern().FindAllSubmatchIndex(part, -1) {
			start, end := lastGroup(m)
			if r.fits(string(part[start:end])) {
				return true
			}
		}
		if from+window >= len(line) {
			return false
		}
	}
}

// lastGroup returns the offsets of the last group that took part in a match.
func lastGroup(match []int) (start, end int) {
	for i := len(match) - 2; i > 0; i -= 2 {
		if match[i] >= 0 {
			return match[i], match[i+1]
		}
	}
	return match[0], match[1]
}

func (r *rule) fits(value string) bool {
	if r.informational {
		return !anybody(value)
	}
	if r.weak && isExpression(value) || r.name == vaultService && methodShape().MatchString(value) {
		return false
	}
	return !placeholder(value) && entropy(value) >= r.minimum(value) && (!r.digits || strings.ContainsAny(value, digits))
}

// isExpression reports whether a value is a selector expression of a program, such as
// user2.options.Password. Random values have longer parts, or more digits in a part.
func isExpression(value string) bool {
	parts := strings.Split(value, ".")
	for _, part := range parts {
		hasSeveral := strings.IndexAny(part, digits) != strings.LastIndexAny(part, digits)
		if part == "" || strings.ContainsAny(part[:1], digits) || len(part) > 20 || hasSeveral || strings.ContainsAny(part, "+/=~!@#%^&*-") {
			return false
		}
	}
	return len(parts) > 1
}

// vaultService is the rule whose values can look like a method of a variable.
const vaultService = "vault-service-token"

// methodShape matches a method with a name of words and numbers, such as
// s.ReadUint16LengthPrefixed.
var methodShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^s\.[A-Za-z][a-z]+\d*(?:[A-Z][a-z]+\d*)+$`) })

// placeholder reports whether a value is a placeholder instead of a secret.
func placeholder(s string) bool {
	lower := strings.ToLower(s)
	words := []string{"example", "changeme", "placeholder", "your_", "your-", "xxxx", "****", "redacted", "...", "\u2026", "${", "{{", "<", "%s", "%[", "%v", "dummy"}
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) }) || strings.Trim(lower, "*x.-_#") == "" {
		return true
	}
	switch lower {
	case "password", "passwd", "pass", "pwd", "secret", "token":
		return true
	}
	name, dollar := strings.CutPrefix(s, "$")
	return dollar && consistsOf(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
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

// minimum returns the minimum entropy of a value. A random value of 16 hexadecimal digits
// has about 3.2 bits per character, which is less than most identifiers in code have.
func (r *rule) minimum(value string) float64 {
	if !r.byAlphabet {
		return r.random
	}
	switch {
	case consistsOf(value, digits):
		return r.random
	case consistsOf(value, "0123456789abcdef"), consistsOf(value, "0123456789ABCDEF"):
		return min(r.random, 3)
	case !strings.ContainsAny(value, "+/=_.~!@#%^&*-"):
		return min(r.random, 3.3)
	}
	return r.random
}

func consistsOf(value, alphabet string) bool { return strings.Trim(value, alphabet) == "" }

// A set contains rules, as bits by table index.
type set [2]uint64

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s *set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) without(other set) set { return set{s[0] &^ other[0], s[1] &^ other[1]} }

// A dictionary finds keywords of all rules in one pass over a text.
type dictionary struct {
	words [1 << 16][]word // by their first two bytes
	vague set
}

// A word is a keyword of a rule.
type word struct {
	text  []byte
	rule  int
	after string // characters of which some follow the keyword
	least int    // number of these characters
}

var words = sync.OnceValue(func() *dictionary {
	d := &dictionary{}
	all := table()
	for i := range all {
		if all[i].loose || all[i].random > 0 { // too imprecise for binary data
			d.vague.add(i)
		}
		for _, w := range all[i].words {
			d.add(word{text: []byte(w), rule: i})
		}
		for _, w := range all[i].keywords {
			w.rule = i
			d.add(w)
		}
	}
	return d
})

func (d *dictionary) add(w word) {
	at := pair(w.text[0], w.text[1])
	d.words[at] = append(d.words[at], w)
}

func pair(a, b byte) int { return int(a)<<8 | int(b) }

// A hit is a keyword in a text.
type hit struct{ at, rule int32 }

// hits appends the keywords of a lower-case text to a list, in the order of the text. A
// regular expression is slow and compiled on first use, and runs only on lines with one
// of its keywords.
func (d *dictionary) hits(list []hit, lower []byte) []hit {
	for i := 0; i+1 < len(lower); i++ {
		some := d.words[pair(lower[i], lower[i+1])]
		for k := range some {
			w := &some[k]
			if after, ok := bytes.CutPrefix(lower[i:], w.text); ok && len(after) >= w.least && len(bytes.TrimLeft(after[:w.least], w.after)) == 0 {
				list = append(list, hit{int32(i), int32(w.rule)})
			}
		}
	}
	return list
}

// mentioned returns the rules with a keyword in a lower-case text.
func mentioned(lower []byte) (found set) {
	for _, h := range words().hits(nil, lower) {
		found.add(int(h.rule))
	}
	return found
}
