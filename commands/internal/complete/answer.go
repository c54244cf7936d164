package complete

import (
	"slices"
	"strings"
	"unicode"
)

// Lines returns the response to the shell. It lists words from n.Words and found that
// complete the typed text; found holds the results of the caller's lookup.
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

// plain reports whether a word is printable and non-empty. Text with bidirectional
// control characters is rejected.
func plain(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return printable(r) != r }) < 0
}

// printable returns r, or a question mark if r is not printable.
func printable(r rune) rune {
	if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
		return '?'
	}
	return r
}
