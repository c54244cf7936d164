// Package linediff compares two texts by lines.
package linediff

import "strings"

// A Line is a line of either text, without its end.
type Line struct {
	Op   byte // ' ' in both, '-' in the old one alone, '+' in the new one alone
	Text string
}

// A Hunk is lines that changed, with what stands around them. Old and New are
// the numbers of its first line in either text, from 1.
type Hunk struct {
	Old, New int
	Lines    []Line
}

// Compare compares two texts and shows what changed, each with up to context
// lines around it. Equal texts have no hunk; those that differ in the end of
// their last line alone have one with an empty line.
func Compare(from, to string, context int) []Hunk {
	if from == to {
		return nil
	}
	a, b := split(from), split(to)
	if strings.HasSuffix(from, "\n") && strings.HasSuffix(to, "\n") {
		a, b = a[:len(a)-1], b[:len(b)-1] // nothing stands behind the last line of either
	}
	return hunks(Edit(a, b), context)
}

// split takes a text apart at the ends of its lines. What follows the last one
// is a line too, an empty one as well; no text has none.
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

// hunks cuts lines where more of them than twice the context are in both texts.
func hunks(lines []Line, context int) []Hunk {
	var list []Hunk
	old, now, done := 1, 1, 0
	for k := 0; k < len(lines); {
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

// hunkEnd is where the hunk ends that has the changed line k.
func hunkEnd(lines []Line, k, context int) int {
	last := k
	for i := k; i < len(lines) && i-last <= 2*context+1; i++ {
		if lines[i].Op != ' ' {
			last = i
		}
	}
	return min(len(lines), last+1+context)
}

// count moves the numbers of both texts past lines.
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
