package display

import (
	"strings"

	"git-checkpoint/commands/output"
)

// A Row is a line of a sheet: what it is about, and what there is to say.
type Row struct {
	Label, Text string
	Style       Style
	Below       []string // more of it, a line each
	Hint        string   // a command to type, "" for none
}

// Sheet lays out rows, their texts below each other and broken where the
// screen ends. A command to type is never broken, or nobody could copy it.
func (s Screen) Sheet(rows []Row) string {
	width := 0
	for _, r := range rows {
		width = max(width, output.Width(output.Clean(r.Label)))
	}
	width += 2
	var b strings.Builder
	for _, r := range rows {
		s.row(&b, r, width)
	}
	return b.String()
}

func (s Screen) row(b *strings.Builder, r Row, width int) {
	indent := strings.Repeat(" ", width)
	head := pad(output.Clean(r.Label), width)
	for _, line := range wrap(output.Clean(r.Text), s.Width-width) {
		b.WriteString(strings.TrimRight(head+s.Paint(r.Style, line), " ") + "\n")
		head = indent
	}
	for _, text := range r.Below {
		for _, line := range wrap(output.Clean(text), s.Width-width-2) {
			b.WriteString(strings.TrimRight(indent+"  "+line, " ") + "\n")
		}
	}
	if r.Hint != "" {
		b.WriteString(indent + "hint: " + s.Paint(Bold, output.Clean(r.Hint)) + "\n")
	}
}
