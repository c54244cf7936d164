package linediff

import "github.com/aymanbagabas/go-udiff/lcs"

// Edit returns all lines of a and b, in order, with a short edit that turns a
// into b. The work is bounded: texts that differ in many places may be shown
// with more changed lines than needed.
func Edit(a, b []string) []Line {
	same := 0 // lines at the beginning; the library may take others for equal
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
