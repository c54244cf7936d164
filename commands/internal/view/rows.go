package view

import (
	"slices"
	"strings"
)

// A Row is a labelled line of a status.
type Row struct {
	Label string
	Phase string // name of a phase that completes the label, or ""
	Text  string
	Style Style
	Below []string // additional lines
	Hint  string   // suggested command, or ""
}

func (r Row) label() string { return strings.TrimRight(r.Label+" "+r.Phase, " ") }

// filled returns the rows that have a text.
func filled(rows ...Row) []Row {
	return slices.DeleteFunc(rows, func(r Row) bool { return r.Text == "" })
}

// Plain renders rows for scripts: "Label: text", with additional lines and the hint indented.
func Plain(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		label := Clean(r.label())
		indent := label[:len(label)-len(strings.TrimLeft(label, " "))] + "  "
		b.WriteString(label + ": " + Clean(r.Text) + "\n")
		for _, line := range r.Below {
			b.WriteString(indent + Clean(line) + "\n")
		}
		if r.Hint != "" {
			b.WriteString(indent + "hint: " + Clean(r.Hint) + "\n")
		}
	}
	return b.String()
}

// Markdown renders rows as a list for a comment on an issue. Recorded text is in code spans.
func Markdown(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		label := strings.TrimLeft(r.Label, " ")
		if r.Phase != "" {
			label += " " + Code(r.Phase)
		}
		b.WriteString("- " + label + ": " + Code(r.Text) + "\n")
	}
	return b.String()
}

// Code returns text as a Markdown code span, in which links, images and mentions have no
// effect.
func Code(s string) string {
	return "`" + strings.ReplaceAll(Clean(s), "`", "'") + "`"
}
