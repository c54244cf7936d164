package complete

import (
	"slices"
	"strings"
	"unicode"
)

// Lines are the answer to a shell: what of found, which was looked up, and of
// the words that were known, goes on with what was typed.
func (n *Next) Lines(found []Word) string {
	var b strings.Builder
	switch {
	case n.Dirs:
		b.WriteString("dirs\n")
	case n.Files:
		b.WriteString("files\n")
	default:
		b.WriteString("words\n")
	}
	var seen []string
	for _, w := range slices.Concat(n.Words, found) {
		if !strings.HasPrefix(w.Text, n.Typed) || !plain(w.Text) || slices.Contains(seen, w.Text) {
			continue
		}
		seen = append(seen, w.Text)
		b.WriteString(n.Prefix + w.Text + "\t" + strings.Map(printable, w.About) + "\n")
	}
	return b.String()
}

// plain reports whether a word can be shown and typed as it is. Nothing that
// turns the text of a line around is offered.
func plain(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return printable(r) != r }) < 0
}

// printable is the rune, or a question mark for one that is not seen as what
// it is.
func printable(r rune) rune {
	if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
		return '?'
	}
	return r
}
