package checkpoint

import (
	"slices"
	"strings"
)

// Decisions returns the texts of key_decisions that count, newest first. A decision that a later
// one replaces is left out.
func (r *Record) Decisions() []string {
	all := r.doc.Texts("key_decisions")
	var list []string
	for i, text := range slices.Backward(all) {
		if !slices.ContainsFunc(all[i+1:], func(later string) bool { return strings.Contains(later, replacing(text)) }) {
			list = append(list, text)
		}
	}
	return list
}

// replacing returns the mark of a decision that replaces the given one.
func replacing(old string) string {
	old, _, _ = strings.Cut(old, replaceMark)
	return replaceMark + old + ")"
}

// replaceMark begins the text about a replaced decision in the decision that replaces it, such as
// "RS256: two services verify (replaces: HS256)".
const replaceMark = " (replaces: "

// Replacing returns a decision with the marks of the decisions that it replaces. Each of those is
// given by its text, or by a part that no other decision has. If one is not found, it returns
// this text in unknown.
func (r *Record) Replacing(decision string, old []string) (text, unknown string) {
	known := r.Decisions()
	for _, o := range old {
		found := slices.DeleteFunc(slices.Clone(known), func(d string) bool { return !strings.Contains(d, o) })
		if slices.Contains(known, o) {
			found = []string{o}
		}
		if len(found) != 1 {
			return "", o
		}
		decision += replacing(found[0])
	}
	return decision, ""
}
