package display

import (
	"encoding/json"
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/output"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/diff"
)

// around is the number of context lines around changed lines.
const around = 3

func opStyle(op diff.Op) Style {
	switch op {
	case diff.Added:
		return Green
	case diff.Removed:
		return Red
	case diff.Moved:
		return Cyan
	}
	return Yellow
}

// Record renders the changes of a record. A single-line change that fits takes one line.
// Lines are indented so that git apply ignores them as text.
func (s Screen) Record(changes []diff.FieldChange) string {
	var b strings.Builder
	for _, c := range changes {
		s.change(&b, c)
	}
	return b.String()
}

func (s Screen) change(b *strings.Builder, c diff.FieldChange) {
	const indent = 11
	name := s.fitEnd(output.Clean(c.Name), indent+len(":"))
	b.WriteString("  " + s.Paint(opStyle(c.Op), fmt.Sprintf("%-7s", c.Op)) + "  " + name)
	if old, now := text(c.Old), text(c.New); strings.Contains(old+now, "\n") {
		b.WriteString(":\n")
		s.lines(b, old, now)
		return
	}
	said := said(c)
	if s.Width <= 0 || indent+output.Width(name)+2+output.Width(said) <= s.Width {
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
	if output.Width(string(a[:same]))+enough <= s.Width-indent || same <= context {
		return old, now
	}
	return "..." + string(a[same-context:]), "..." + string(b[same-context:])
}

// lines renders the line diff of a multi-line text.
func (s Screen) lines(b *strings.Builder, old, now string) {
	for _, h := range diff.Lines(old, now, around) {
		b.WriteString("    " + s.Paint(Cyan, places(h)) + "\n")
		for _, l := range h.Lines {
			b.WriteString("    " + s.Paint(lineStyle(l.Op), s.fit(string(l.Op)+output.Clean(l.Text), 4)) + "\n")
		}
	}
}

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

// ordinal converts a list index to a 1-based position.
func ordinal(v any) string {
	n, _ := v.(checkpoint.Number)
	k, _ := n.Int()
	return fmt.Sprint(k + 1)
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// value renders a value on one line: unambiguous text unchanged, other values as JSON.
func value(v any) string {
	s, ok := v.(string)
	if ok && s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s[:1], `"[{`) {
		if _, text := checkpoint.ParseValue(s).(string); text {
			return output.Clean(s)
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return output.Clean(string(data))
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
