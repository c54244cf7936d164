package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/diff"
)

// Record renders the changes of a record. A single-line change that fits takes one line.
// Lines are indented so that git apply ignores them as text.
func (s Screen) Record(changes []diff.FieldChange) string {
	var b strings.Builder
	for _, c := range changes {
		s.change(&b, c)
	}
	return b.String()
}

// Summary returns counts of changed fields by operation, or "nothing".
func Summary(changes []diff.FieldChange) string {
	counts := map[diff.Op]int{}
	for _, c := range changes {
		counts[c.Op]++
	}
	var parts []string
	for _, op := range []diff.Op{diff.Changed, diff.Added, diff.Removed, diff.Moved} {
		if n := counts[op]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, op))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// A Patch is a writer that prepares the output of git diff for a screen. It escapes
// control characters and colours lines by kind. Callers must Close it.
type Patch struct {
	screen Screen
	w      io.Writer
	rest   []byte // buffered part of an unterminated line
	within bool   // part of that line is already written
	hunk   bool   // current lines belong to a hunk
	style  Style
}

// Patch returns a Patch that writes to w.
func (s Screen) Patch(w io.Writer) *Patch { return &Patch{screen: s, w: w} }

// maxLine limits the buffered bytes of an unterminated line.
const maxLine = 1 << 16

// Write writes part of a diff.
func (p *Patch) Write(data []byte) (int, error) {
	for line := range bytes.Lines(data) {
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		if p.rest = append(p.rest, text...); ended {
			if err := p.flush("\n"); err != nil {
				return 0, err
			}
		}
	}
	if len(p.rest) > maxLine {
		return len(data), p.flush("")
	}
	return len(data), nil
}

// Close writes the buffered rest.
func (p *Patch) Close() error {
	if len(p.rest) == 0 {
		return nil
	}
	return p.flush("")
}

func (s Screen) change(b *strings.Builder, c diff.FieldChange) {
	const indent = 11
	name := s.fitEnd(Clean(c.Name), indent+len(":"))
	b.WriteString("  " + s.Paint(opStyles[c.Op], fmt.Sprintf("%-7s", c.Op)) + "  " + name)
	if old, now := text(c.Old), text(c.New); strings.Contains(old+now, "\n") {
		b.WriteString(":\n")
		for _, h := range diff.Lines(old, now, around) {
			b.WriteString("    " + s.Paint(Cyan, places(h)) + "\n")
			for _, l := range h.Lines {
				b.WriteString("    " + s.Paint(lineStyle(l.Op), s.fit(string(l.Op)+Clean(l.Text), 4)) + "\n")
			}
		}
		return
	}
	said := said(c)
	if s.Width <= 0 || indent+Width(name)+2+Width(said) <= s.Width {
		b.WriteString(": " + said + "\n")
		return
	}
	b.WriteString(":\n")
	if c.Op == diff.Moved {
		b.WriteString("    " + s.fit(said, 4) + "\n")
		return
	}
	before, after := s.near(value(c.Old), value(c.New), c.Op)
	for _, side := range []struct {
		sign  string
		style Style
		value any
		text  string
	}{{"- ", Red, c.Old, before}, {"+ ", Green, c.New, after}} {
		if side.value != nil || c.Op == diff.Changed {
			b.WriteString("    " + s.Paint(side.style, s.fit(side.sign+side.text, 4)) + "\n")
		}
	}
}

var opStyles = map[diff.Op]Style{diff.Added: Green, diff.Removed: Red, diff.Moved: Cyan, diff.Changed: Yellow}

// text returns a text, and "" for another value.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// around is the number of context lines around changed lines.
const around = 3

// places returns a hunk header. As in git, the line number of an empty side is the line
// before the hunk.
func places(h diff.Hunk) string {
	removed, added := 0, 0
	for _, l := range h.Lines {
		if l.Op != '+' {
			removed++
		}
		if l.Op != '-' {
			added++
		}
	}
	old, now := h.Old, h.New
	if removed == 0 {
		old--
	}
	if added == 0 {
		now--
	}
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@", old, removed, now, added)
}

// lineStyle returns a diff line's style by its first character.
func lineStyle(sign byte) Style {
	switch sign {
	case '+':
		return Green
	case '-':
		return Red
	}
	return ""
}

// said renders a change on one line.
func said(c diff.FieldChange) string {
	switch c.Op {
	case diff.Added:
		return value(c.New)
	case diff.Removed:
		return value(c.Old)
	case diff.Moved:
		return "from place " + ordinal(c.Old) + " to " + ordinal(c.New)
	}
	return value(c.Old) + " -> " + value(c.New)
}

// value renders a value on one line: unambiguous text unchanged, other values as JSON.
func value(v any) string {
	s, ok := v.(string)
	if ok && s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s[:1], `"[{`) {
		if _, text := checkpoint.ParseValue(s).(string); text {
			return Clean(s)
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return Clean(string(data))
}

// ordinal converts a list index to a 1-based position.
func ordinal(v any) string {
	n, _ := v.(checkpoint.Number)
	k, _ := n.Int()
	return fmt.Sprint(k + 1)
}

// near shortens a long common prefix of two texts if it would push their difference off
// the screen. A few characters of the prefix stay as context.
func (s Screen) near(old, now string, op diff.Op) (before, after string) {
	const indent, context, enough = 6, 12, 10
	if op != diff.Changed || s.Width <= 0 {
		return old, now
	}
	a, b := []rune(old), []rune(now)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	if Width(string(a[:same]))+enough <= s.Width-indent || same <= context {
		return old, now
	}
	return "..." + string(a[same-context:]), "..." + string(b[same-context:])
}

// flush writes the buffered part of a line, followed by end: a newline, or "" if the line
// continues.
func (p *Patch) flush(end string) error {
	line := string(p.rest)
	if !p.within {
		p.begin(line)
	}
	head, tail := line, ""
	if p.style == Cyan { // a hunk header ends after its line numbers
		if at := strings.Index(line[min(2, len(line)):], "@@"); at >= 0 {
			head, tail = line[:at+4], line[at+4:]
		}
	}
	_, err := io.WriteString(p.w, p.screen.Paint(p.style, CleanBlock(head))+CleanBlock(tail)+end)
	p.rest, p.within = p.rest[:0], end == ""
	return err
}

// begin sets the style of a line. Lines before the first hunk describe the file. Hunk
// lines begin with a sign, a space or a backslash.
func (p *Patch) begin(line string) {
	switch {
	case strings.HasPrefix(line, "diff "):
		p.hunk, p.style = false, Bold
	case strings.HasPrefix(line, "@@"):
		p.hunk, p.style = true, Cyan
	case !p.hunk:
		p.style = Bold
	case line == "":
		p.style = ""
	default:
		p.style = lineStyle(line[0])
	}
}
