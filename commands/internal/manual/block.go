package manual

import "strings"

// A block is one element of a page.
type block struct {
	kind blockKind
	term string // term of an item; "" for a bullet
	text string // lines of a verbatim block; otherwise one line with backquotes
	code string // unformatted lines below an item's text
}

type blockKind int

const (
	section blockKind = iota
	subsection
	paragraph
	item
	verbatim
)

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
	return trimmed(blocks)
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

// trimmed removes trailing empty lines from verbatim blocks.
func trimmed(blocks []block) []block {
	for i := range blocks {
		if blocks[i].kind == verbatim {
			blocks[i].text = strings.TrimRight(blocks[i].text, "\n") + "\n"
		}
	}
	return blocks
}
