package diff

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A Line is one line of a diff, without the newline.
type Line struct {
	Op   byte // ' ' unchanged, '-' removed, '+' added
	Text string
}

// A Hunk is a group of changed lines with context lines. Old and New are the 1-based
// numbers of its first line in both texts.
type Hunk struct {
	Old, New int
	Lines    []Line
}

// Lines returns the hunks of a diff with up to context unchanged lines around each
// change. If the texts are equal, it returns nil. If only the final newline differs, the
// diff adds or removes an empty line.
func Lines(from, to string, context int) []Hunk {
	if from == to {
		return nil
	}
	a, b := split(from), split(to)
	if strings.HasSuffix(from, "\n") && strings.HasSuffix(to, "\n") {
		a, b = a[:len(a)-1], b[:len(b)-1] // drop the empty line after the final newline
	}
	lines := Edit(a, b)
	var list []Hunk
	old, now, done := 1, 1, 0
	for k := 0; k < len(lines); { // more than 2*context unchanged lines separate two hunks
		if lines[k].Op == ' ' {
			k++
			continue
		}
		start, end := max(done, k-context), hunkEnd(lines, k, context)
		old, now = count(lines[done:start], old, now)
		list = append(list, Hunk{old, now, lines[start:end]})
		old, now = count(lines[start:end], old, now)
		done, k = end, end
	}
	return list
}

// split splits a text at newlines. The part after the last newline is a line too, even if
// empty. An empty text has no lines.
func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func mark(lines []Line, op byte, texts []string) []Line {
	for _, text := range texts {
		lines = append(lines, Line{op, text})
	}
	return lines
}

// hunkEnd returns the end index of the hunk that contains changed line k.
func hunkEnd(lines []Line, k, context int) int {
	last := k
	for i := k; i < len(lines) && i-last <= 2*context+1; i++ {
		if lines[i].Op != ' ' {
			last = i
		}
	}
	return min(len(lines), last+1+context)
}

// count returns the line numbers of both texts after lines.
func count(lines []Line, old, now int) (int, int) {
	for _, l := range lines {
		if l.Op != '+' {
			old++
		}
		if l.Op != '-' {
			now++
		}
	}
	return old, now
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
