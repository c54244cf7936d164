package diff

import "github.com/aymanbagabas/go-udiff/lcs"

// A Line is one line of a diff, without the newline.
type Line struct {
	Op   byte // ' ' unchanged, '-' removed, '+' added
	Text string
}

// Edit returns all lines of a and b, in order, with a short edit from a to b. The work is
// bounded, so texts with many differences can have more changed lines than necessary.
func Edit(a, b []string) []Line {
	same := 0 // length of the common prefix, which the library might match differently
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	lines := mark(nil, ' ', a[:same])
	a, b = a[same:], b[same:]
	done := 0
	for _, d := range lcs.DiffLines(a, b) {
		lines = mark(lines, ' ', a[done:d.Start])
		lines = mark(lines, '-', a[d.Start:d.End])
		lines = mark(lines, '+', b[d.ReplStart:d.ReplEnd])
		done = d.End
	}
	return mark(lines, ' ', a[done:])
}

func mark(lines []Line, op byte, texts []string) []Line {
	for _, text := range texts {
		lines = append(lines, Line{op, text})
	}
	return lines
}
