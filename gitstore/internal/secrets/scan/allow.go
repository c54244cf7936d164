package scan

import "strings"

// An Allow lists exceptions for findings. An entry is a rule ("rule"), a path ("path"),
// or a rule with a path ("rule:path"). Paths are relative to the checkpoint's tree. In a
// path, "*" matches any text. A path also matches without its first directory, such as
// staged/.
type Allow []string

// Has reports whether a finding of a rule at a path is allowed.
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

// sameRule reports whether a name equals rule or "*".
func sameRule(name, rule string) bool { return name == rule || name == "*" }

// ExternalRule is the rule name for findings of the scan_command program.
const ExternalRule = "scan-command"

// fitsPath reports whether a pattern matches a path, with or without its first directory.
func fitsPath(pattern, path string) bool {
	_, below, _ := strings.Cut(path, "/")
	return glob(pattern, path) || below != "" && glob(pattern, below)
}

// glob reports whether a text matches a pattern with "*".
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
