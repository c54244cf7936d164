package manual

import (
	"fmt"
	"strings"
)

// Roff is the page for man.
func (p *Page) Roff() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %d %q %q %q\n", strings.ToUpper(p.Name), p.Section, p.date, p.source, "Git Checkpoint")
	b.WriteString(".nh\n.ad l\n") // a word that is broken cannot be pasted
	fmt.Fprintf(&b, ".SH NAME\n%s", lines(p.Name+" - "+p.Usage))
	first := true // no paragraph break follows a heading
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

// unfilled writes lines that are not broken, however narrow the screen is: what
// is pasted must be whole.
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

// lines are a running text, broken where the source of a page may be.
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

// ended keeps roff from two spaces after a sentence that ends where the line of
// the source does, where all others have one.
func ended(line string) string {
	if strings.ContainsAny(line[len(line)-1:], ".?!)") {
		return `\&`
	}
	return ""
}

// sourceWidth is how long a line of a page's source should be at most, without what
// ended adds.
const sourceWidth = 78

// guarded is a line that is not taken for a request.
func guarded(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line + "\n"
}

// marked is text whose words in backquotes are bold.
func marked(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		part = strings.ReplaceAll(escape(part), "|", `|\:`) // a line may end between alternatives
		if i%2 == 1 {
			part = `\fB` + part + `\fR`
		}
		b.WriteString(part)
	}
	return b.String()
}

// escape keeps every character what it is: roff would make typography of
// quotes, dashes and accents, which nobody could paste into a shell.
func escape(s string) string {
	return strings.NewReplacer(
		`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`, `"`, `\(dq`,
	).Replace(s)
}
