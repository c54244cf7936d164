package display

import (
	"strings"

	"git-checkpoint/commands/internal/output"
)

// A Row is a labelled line in a sheet.
type Row struct {
	Label, Text string
	Style       Style
	Below       []string // additional lines
	Hint        string   // suggested command, or ""
}

// Sheet renders rows with aligned texts, wrapped at the screen width. Suggested commands
// are never wrapped, so that users can copy them.
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
