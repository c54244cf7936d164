package display

import (
	"strings"
	"unicode/utf8"

	"git-checkpoint/commands/output"
)

// A Screen is where text is shown. The zero value is as wide as need be and
// has no colours.
type Screen struct {
	Width int // columns, 0 for no limit
	Color bool
}

// A Style is how text stands out.
type Style string

// Styles, as terminals know them by number.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint gives text a style, where there are colours. The text is clean.
func (s Screen) Paint(style Style, text string) string {
	if !s.Color || style == "" || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[m"
}

// Named is a word, a checkpoint's name, the short one where there is no room
// for the whole, and how old it is.
func (s Screen) Named(word, name, short, age string) string {
	word, name, age = output.Clean(word)+" ", output.Clean(name), " ("+output.Clean(age)+")"
	if s.Width > 0 && output.Width(word+name+age) > s.Width && short != "" {
		name = output.Clean(short)
	}
	return word + s.Paint(Bold, s.fit(name, output.Width(word))) + s.fit(age, output.Width(word+name))
}

// Heading says what follows, in as many lines as it takes.
func (s Screen) Heading(text string) string {
	lines := wrap(output.Clean(text), s.Width)
	for i := range lines {
		lines[i] = s.Paint(Bold, lines[i])
	}
	return strings.Join(lines, "\n")
}

// fit cuts clean text to what is left of a line behind used columns.
func (s Screen) fit(text string, used int) string {
	if s.Width <= 0 {
		return text
	}
	return output.Truncate(text, max(s.Width-used, 0))
}

// fitEnd is fit for a path, whose end says more than its beginning.
func (s Screen) fitEnd(path string, used int) string {
	room := max(s.Width-used, 0)
	if s.Width <= 0 || output.Width(path) <= room {
		return path
	}
	dots, rest := "..."[:min(3, room)], path
	if most := 8*room + 64; len(rest) > most {
		rest = strings.ToValidUTF8(rest[len(rest)-most:], "")
	}
	for rest != "" {
		if output.Width(rest) <= room-len(dots) {
			return dots + rest
		}
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	return dots
}

// wrap breaks clean text into lines of at most width columns, at spaces where
// it can. A width of 0 or less is no limit.
func wrap(text string, width int) []string {
	if width <= 0 || output.Width(text) <= width {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case output.Width(line)+1+output.Width(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
		for output.Width(line) > width {
			head, rest := output.Cut(line, width)
			if head == "" {
				break // a character wider than the line
			}
			lines, line = append(lines, head), rest
		}
	}
	return append(lines, line)
}
