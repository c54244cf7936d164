package web

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"git-checkpoint/gitstore/diff"
)

// A Hunk is a changed part of a file or text.
type Hunk struct {
	Lines []DiffLine
}

// A DiffLine is one line in a hunk.
type DiffLine struct {
	Kind     string // same, add, del or note
	Old, New int    // line numbers; 0 if absent
	Parts    []Part
}

// A Part is a segment of a line; Strong segments differ from the replaced line.
type Part struct {
	Text   string
	Strong bool
}

// A patch is the parsed patch of one file.
type patch struct {
	hunks          []Hunk
	shown          int // lines in hunks
	added, deleted int // all lines
	binary, cut    bool
}

// parsePatch parses one file's patch of git, with up to limit lines. Text before the first hunk describes
// the file.
func parsePatch(text string, limit int) (p patch) {
	var h *Hunk
	var old, now int
	for text := range strings.Lines(text) {
		text = strings.TrimSuffix(text, "\n")
		switch {
		case strings.HasPrefix(text, "@@ "):
			old, now = hunkStart(text)
			h = &Hunk{}
			if p.shown < limit {
				p.hunks = append(p.hunks, Hunk{})
				h = &p.hunks[len(p.hunks)-1]
			}
			continue
		case h == nil:
			p.binary = p.binary || strings.HasPrefix(text, "Binary files ")
			continue
		case text == "":
			continue
		case text[0] == '+':
			p.added++
		case text[0] == '-':
			p.deleted++
		}
		if p.cut = p.shown >= limit; !p.cut {
			h.add(text[0], text[1:], &old, &now)
			p.shown++
		}
	}
	for i := range p.hunks {
		p.hunks[i].emphasize()
	}
	return p
}

// hunkStart parses "@@ -old,n +new,n @@".
func hunkStart(head string) (old, now int) {
	fields := strings.Fields(head)
	if len(fields) < 3 {
		return 0, 0
	}
	number := func(s string) int {
		s, _, _ = strings.Cut(strings.TrimLeft(s, "-+"), ",")
		n, _ := strconv.Atoi(s)
		return n
	}
	return number(fields[1]), number(fields[2])
}

// add appends a line and increments line numbers.
func (h *Hunk) add(op byte, text string, old, now *int) {
	l := DiffLine{Parts: []Part{{Text: block(cut(text, maxText))}}}
	switch op {
	case '+':
		l.Kind, l.New = "add", *now
		*now++
	case '-':
		l.Kind, l.Old = "del", *old
		*old++
	case ' ':
		l.Kind, l.Old, l.New = "same", *old, *now
		*old++
		*now++
	default: // e.g. "\ No newline at end of file"
		l.Kind, l.Parts[0].Text = "note", line(strings.TrimSpace(text))
	}
	h.Lines = append(h.Lines, l)
}

// textHunks returns the line diff of two texts, up to limit lines.
func textHunks(from, to string, limit int) (hunks []Hunk, cut bool) {
	for _, c := range diff.Lines(from, to, 3) {
		if limit <= 0 {
			return hunks, true
		}
		h := Hunk{}
		old, now := c.Old, c.New
		for _, l := range c.Lines[:min(len(c.Lines), limit)] {
			h.add(l.Op, l.Text, &old, &now)
		}
		cut = len(c.Lines) > limit
		limit -= len(c.Lines)
		h.emphasize()
		hunks = append(hunks, h)
	}
	return hunks, cut
}

// emphasize marks the differences within replaced lines, if equal numbers of lines were
// removed and added.
func (h *Hunk) emphasize() {
	for i := 0; i < len(h.Lines); {
		dels := h.run(i, "del")
		adds := h.run(i+dels, "add")
		if dels > 0 && dels == adds {
			for k := range dels {
				mark(&h.Lines[i+k], &h.Lines[i+dels+k])
			}
		}
		i += max(1, dels+adds)
	}
}

// run counts consecutive lines of a kind from index at.
func (h *Hunk) run(at int, kind string) int {
	n := 0
	for at+n < len(h.Lines) && h.Lines[at+n].Kind == kind {
		n++
	}
	return n
}

// mark splits two lines into common prefix, difference and common suffix. Lines with too
// little in common remain unsplit.
func mark(a, b *DiffLine) {
	x, y := a.Parts[0].Text, b.Parts[0].Text
	head := 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	for head > 0 && (head < len(x) && !utf8.RuneStart(x[head]) || head < len(y) && !utf8.RuneStart(y[head])) {
		head--
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(x[len(x)-tail]) {
		tail--
	}
	if 3*len(strings.TrimSpace(x[:head]+x[len(x)-tail:])) < min(len(x), len(y)) {
		return
	}
	a.Parts, b.Parts = parts(x, head, tail), parts(y, head, tail)
}

func parts(s string, head, tail int) []Part {
	var list []Part
	for i, text := range []string{s[:head], s[head : len(s)-tail], s[len(s)-tail:]} {
		if text != "" {
			list = append(list, Part{Text: text, Strong: i == 1})
		}
	}
	return list
}
