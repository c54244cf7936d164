package manual

import (
	"fmt"
	"strings"
)

// Width is the line width of terminal text.
const Width = 80

// Text returns the page as terminal text.
func (p *Page) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s - %s\n", p.Name, p.Usage)
	before := block{}
	for _, bl := range p.blocks {
		if !(bl.kind == item && before.kind == item && bl.term == "" && before.term == "") {
			b.WriteString("\n")
		}
		bl.write(&b)
		before = bl
	}
	return b.String()
}

func (bl *block) write(b *strings.Builder) {
	plain := strings.ReplaceAll(bl.text, "`", "")
	switch bl.kind {
	case section:
		b.WriteString(strings.ToUpper(plain) + "\n")
	case subsection:
		b.WriteString(plain + "\n")
	case paragraph:
		b.WriteString(Wrap(plain, "  ", "  "))
	case item:
		if bl.term == "" {
			b.WriteString(Wrap(plain, "  - ", "    "))
			return
		}
		b.WriteString("  " + bl.term + "\n" + Wrap(plain, "      ", "      ") + indented(bl.code))
	case verbatim:
		b.WriteString(indented(bl.text))
	}
}

func indented(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("      "+l, " \n") + "\n")
	}
	return b.String()
}

// Wrap wraps text; first indents the first line, rest indents other lines.
func Wrap(text, first, rest string) string {
	var b strings.Builder
	at := first
	for _, word := range strings.Fields(text) {
		if len(strings.TrimSpace(at)) > 0 && len(at)+len(word) > Width && at != first && at != rest {
			b.WriteString(strings.TrimRight(at, " ") + "\n")
			at = rest
		}
		at += word + " "
	}
	b.WriteString(strings.TrimRight(at, " ") + "\n")
	return b.String()
}
