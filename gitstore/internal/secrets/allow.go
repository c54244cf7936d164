package secrets

import "strings"

// An Allow says what is no secret: entries that are a rule, "rule", or a place,
// "path", or a rule in some places, "rule:path". In a path, which is that in the
// checkpoint, "*" stands for any text; it counts below staged/ and the like, too.
type Allow []string

// Has reports whether what a rule found at a path is allowed.
func (a Allow) Has(rule, path string) bool {
	for _, entry := range a {
		if entry == "" {
			continue
		}
		name, place, both := strings.Cut(entry, ":")
		switch {
		case both && !sameRule(name, rule):
		case both && fitsPath(place, path), !both && (sameRule(entry, rule) || fitsPath(entry, path)):
			return true
		}
	}
	return false
}

// sameRule reports whether a name is that of a rule, or of all.
func sameRule(name, rule string) bool { return name == rule || name == "*" }

// ExternalRule is the rule of what the program of scan_command found.
const ExternalRule = "scan-command"

// fitsPath reports whether a path, or what is below its first folder, is what a
// pattern says.
func fitsPath(pattern, path string) bool {
	_, below, _ := strings.Cut(path, "/")
	return glob(pattern, path) || below != "" && glob(pattern, below)
}

// glob reports whether a text is what a pattern with "*" says.
func glob(pattern, text string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, head)
	for ok {
		next, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, next)
		}
		at := strings.Index(text, next)
		if at < 0 {
			return false
		}
		text, rest = text[at+len(next):], after
	}
	return false
}
