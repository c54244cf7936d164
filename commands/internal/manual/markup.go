package manual

import (
	"fmt"
	"strings"
)

const (
	section blockKind = iota
	subsection
	paragraph
	item
	verbatim
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

// width is the line width of terminal text.
const width = 80

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

// Wrap wraps text; first indents the first line, rest indents other lines.
func Wrap(text, first, rest string) string {
	var b strings.Builder
	at := first
	for _, word := range strings.Fields(text) {
		if len(strings.TrimSpace(at)) > 0 && len(at)+len(word) > width && at != first && at != rest {
			b.WriteString(strings.TrimRight(at, " ") + "\n")
			at = rest
		}
		at += word + " "
	}
	b.WriteString(strings.TrimRight(at, " ") + "\n")
	return b.String()
}

// sourceWidth limits source lines, not counting the escape from ended.
const sourceWidth = 78

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

// guarded prevents roff from parsing the line as a request.
func guarded(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line + "\n"
}

// ended returns an escape after a sentence at the end of a source line. Otherwise roff
// would insert two spaces after this sentence, but one space after other sentences.
func ended(line string) string {
	if strings.ContainsAny(line[len(line)-1:], ".?!)") {
		return `\&`
	}
	return ""
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

type blockKind int

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

type block struct {
	kind blockKind
	term string // term of an item; "" for a bullet
	text string // lines of a verbatim block; otherwise one line with backquotes
	code string // unformatted lines below an item's text
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

// parse parses text in the Markdown subset of the package comment.
func parse(text string) []block {
	var blocks []block
	open := false // next line can continue the last block
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		b, starts := begin(line)
		last := len(blocks) - 1
		switch {
		case line == "":
			if open && blocks[last].kind == verbatim {
				blocks[last].text += "\n"
				continue
			}
			open = false
		case b.kind == verbatim && open && blocks[last].kind == verbatim:
			blocks[last].text += b.text
		case starts || !open || blocks[last].kind == verbatim:
			blocks, open = append(blocks, b), b.kind != section && b.kind != subsection
		default:
			blocks[last].text += " " + strings.TrimSpace(line)
		}
	}
	for i := range blocks {
		if blocks[i].kind == verbatim {
			blocks[i].text = strings.TrimRight(blocks[i].text, "\n") + "\n"
		}
	}
	return blocks
}

// begin returns the block that starts with line, and whether the line must start a block.
func begin(line string) (b block, starts bool) {
	if t, ok := strings.CutPrefix(line, "## "); ok {
		return block{kind: section, text: t}, true
	}
	if t, ok := strings.CutPrefix(line, "### "); ok {
		return block{kind: subsection, text: t}, true
	}
	if t, ok := strings.CutPrefix(line, "    "); ok {
		return block{kind: verbatim, text: t + "\n"}, true
	}
	if t, ok := strings.CutPrefix(line, "- "); ok {
		return definition(t), true
	}
	return block{kind: paragraph, text: line}, false
}

// definition splits an item into term and text: "`a`, `b`: explanation".
func definition(text string) block {
	term, rest, ok := strings.Cut(text, "`: ")
	if !ok || !strings.HasPrefix(text, "`") || strings.Contains(strings.ReplaceAll(outside(term), ",", ""), " ") {
		return block{kind: item, text: text}
	}
	return block{kind: item, term: strings.ReplaceAll(term, "`", ""), text: rest}
}

// outside returns the text outside backquotes, without surrounding spaces.
func outside(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "`") {
		if i%2 == 0 {
			b.WriteString(strings.TrimSpace(part))
		}
	}
	return b.String()
}
