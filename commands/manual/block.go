package manual

import "strings"

// A block is one piece of a page.
type block struct {
	kind blockKind
	term string // of an item, "" for a bullet
	text string // of a verbatim block its lines, else one line with words in backquotes
	code string // of an item, lines that stay as they are below its text
}

type blockKind int

const (
	section blockKind = iota
	subsection
	paragraph
	item
	verbatim
)

// parse reads a text of the forms that the package's comment names.
func parse(text string) []block {
	var blocks []block
	open := false // the last block goes on in the next line
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
	return trimmed(blocks)
}

// begin is the block that a line would begin, and whether it must begin one.
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

// definition takes the term off an item: "`a`, `b`: what they are".
func definition(text string) block {
	term, rest, ok := strings.Cut(text, "`: ")
	if !ok || !strings.HasPrefix(text, "`") || strings.Contains(strings.ReplaceAll(outside(term), ",", ""), " ") {
		return block{kind: item, text: text}
	}
	return block{kind: item, term: strings.ReplaceAll(term, "`", ""), text: rest}
}

// outside is what is not between backquotes, words trimmed.
func outside(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "`") {
		if i%2 == 0 {
			b.WriteString(strings.TrimSpace(part))
		}
	}
	return b.String()
}

// trimmed ends verbatim blocks at their last line.
func trimmed(blocks []block) []block {
	for i := range blocks {
		if blocks[i].kind == verbatim {
			blocks[i].text = strings.TrimRight(blocks[i].text, "\n") + "\n"
		}
	}
	return blocks
}
