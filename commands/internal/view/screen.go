package view

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A Screen describes a terminal. The zero value has unlimited width and no colours.
type Screen struct {
	Width int // columns; 0 means unlimited
	Color bool
}

// A Style is a text attribute or colour.
type Style string

// Styles with the numbers of terminal escape sequences.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint applies a style to clean text if colours are enabled.
func (s Screen) Paint(style Style, text string) string {
	if !s.Color || style == "" || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[m"
}

// Named renders a word, a checkpoint's name and its age. It uses the short name if the
// line would exceed the width.
func (s Screen) Named(word, name, short, age string) string {
	word, name, age = Clean(word)+" ", Clean(name), " ("+Clean(age)+")"
	if s.Width > 0 && Width(word+name+age) > s.Width && short != "" {
		name = Clean(short)
	}
	return word + s.Paint(Bold, s.fit(name, Width(word))) + s.fit(age, Width(word+name))
}

// Heading renders a bold heading, wrapped at the screen width.
func (s Screen) Heading(text string) string {
	bold := func(line string) string { return s.Paint(Bold, line) }
	return strings.Join(Each(wrap(Clean(text), s.Width), bold), "\n")
}

// Sheet renders rows with aligned texts, wrapped at the screen width. Suggested commands
// are never wrapped, so that users can copy them.
func (s Screen) Sheet(rows []Row) string {
	width := 0
	for _, r := range rows {
		width = max(width, Width(Clean(r.label())))
	}
	width += 2
	var b strings.Builder
	for _, r := range rows {
		s.row(&b, r, width)
	}
	return b.String()
}

// fit truncates clean text to the columns that remain after used columns.
func (s Screen) fit(text string, used int) string {
	if s.Width <= 0 {
		return text
	}
	return Truncate(text, max(s.Width-used, 0))
}

// wrap breaks clean text into lines of at most width columns, preferably at spaces. Width
// 0 or less means unlimited.
func wrap(text string, width int) []string {
	if width <= 0 || Width(text) <= width {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
		for Width(line) > width {
			head, rest := Cut(line, width)
			if head == "" {
				break // a character wider than the line
			}
			lines, line = append(lines, head), rest
		}
	}
	return append(lines, line)
}

func (s Screen) row(b *strings.Builder, r Row, width int) {
	indent := strings.Repeat(" ", width)
	head := pad(Clean(r.label()), width)
	for _, line := range wrap(Clean(r.Text), s.Width-width) {
		b.WriteString(strings.TrimRight(head+s.Paint(r.Style, line), " ") + "\n")
		head = indent
	}
	for _, text := range r.Below {
		for _, line := range wrap(Clean(text), s.Width-width-2) {
			b.WriteString(strings.TrimRight(indent+"  "+line, " ") + "\n")
		}
	}
	if r.Hint != "" {
		b.WriteString(indent + "hint: " + s.Paint(Bold, Clean(r.Hint)) + "\n")
	}
}

// fitEnd truncates a path like fit, but keeps the end, its more informative part.
func (s Screen) fitEnd(path string, used int) string {
	room := max(s.Width-used, 0)
	if s.Width <= 0 || Width(path) <= room {
		return path
	}
	dots, rest := "..."[:min(3, room)], path
	if most := 8*room + 64; len(rest) > most {
		rest = strings.ToValidUTF8(rest[len(rest)-most:], "")
	}
	for rest != "" {
		if Width(rest) <= room-len(dots) {
			return dots + rest
		}
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	return dots
}

// Columns renders rows as aligned columns, cut at the screen width.
func (s Screen) Columns(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for k, text := range row {
			if k == len(widths) {
				widths = append(widths, 0)
			}
			widths[k] = max(widths[k], Width(Clean(text)))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for k, text := range row {
			line += pad(Clean(text), widths[k]) + "  "
		}
		b.WriteString(s.fit(strings.TrimRight(line, " "), 0) + "\n")
	}
	return b.String()
}

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

// Filled returns the rows that have a text.
func Filled(rows ...Row) []Row {
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
