package manual

import (
	"fmt"
	"strings"
)

// Roff returns the page in roff format for man.
func (p *Page) Roff() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %d %q %q %q\n", strings.ToUpper(p.Name), p.Section, p.date, p.source, "Git Checkpoint")
	b.WriteString(".nh\n.ad l\n") // hyphenated words cannot be pasted
	fmt.Fprintf(&b, ".SH NAME\n%s", lines(p.Name+" - "+p.Usage))
	first := true // no paragraph break after a heading
	for _, bl := range p.blocks {
		bl.roff(&b, first)
		first = bl.kind == section || bl.kind == subsection
	}
	return []byte(b.String())
}

func (bl *block) roff(b *strings.Builder, first bool) {
	switch bl.kind {
	case section:
		fmt.Fprintf(b, ".SH %s\n", marked(strings.ToUpper(bl.text)))
	case subsection:
		fmt.Fprintf(b, ".SS %s\n", marked(bl.text))
	case paragraph:
		if !first {
			b.WriteString(".PP\n")
		}
		b.WriteString(lines(bl.text))
	case item:
		term := `\(bu`
		indent := " 2"
		if bl.term != "" {
			term, indent = `\fB`+marked(bl.term)+`\fR`, ""
		}
		fmt.Fprintf(b, ".TP%s\n%s\n%s", indent, term, lines(bl.text))
		unfilled(b, bl.code)
	case verbatim:
		if !first {
			b.WriteString(".PP\n")
		}
		b.WriteString(".RS 4\n")
		unfilled(b, bl.text)
		b.WriteString(".RE\n")
	}
}

// unfilled writes unwrapped lines, even for narrow screens, so that users can paste them.
func unfilled(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	b.WriteString(".nf\n")
	for l := range strings.Lines(text) {
		b.WriteString(guarded(escape(strings.TrimSuffix(l, "\n"))))
	}
	b.WriteString(".fi\n")
}

// lines formats running text as roff source lines.
func lines(text string) string {
	var b strings.Builder
	at := ""
	for _, word := range strings.Fields(marked(text)) {
		if at != "" && len(at)+len(word) >= sourceWidth {
			b.WriteString(guarded(at + ended(at)))
			at = ""
		}
		if at != "" {
			at += " "
		}
		at += word
	}
	return b.String() + guarded(at)
}

// ended returns an escape after a sentence at the end of a source line. Otherwise roff
// would insert two spaces after this sentence, but one space after other sentences.
func ended(line string) string {
	if strings.ContainsAny(line[len(line)-1:], ".?!)") {
		return `\&`
	}
	return ""
}

// sourceWidth limits source lines, not counting the escape from ended.
const sourceWidth = 78

// guarded prevents roff from parsing the line as a request.
func guarded(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line + "\n"
}

// marked escapes text and formats words in backquotes bold.
func marked(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		part = strings.ReplaceAll(escape(part), "|", `|\:`) // permits a line break between alternatives
		if i%2 == 1 {
			part = `\fB` + part + `\fR`
		}
		b.WriteString(part)
	}
	return b.String()
}

// escape preserves ASCII quotes, dashes and accents. Otherwise roff would print
// typographic characters that are invalid in a shell.
func escape(s string) string {
	return strings.NewReplacer(
		`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`, `"`, `\(dq`,
	).Replace(s)
}
