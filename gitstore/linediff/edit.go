package linediff

import "slices"

// maxEdits bounds the lines of a shortest edit, and maxSteps the work of
// finding it, which grows with their number times the lines there are.
const (
	maxEdits = 1000
	maxSteps = 20_000_000
)

// edit appends how a became b: the shortest way, as Myers finds it, else all
// of a removed and all of b added.
func edit(lines []Line, a, b []string) []Line {
	x, y := number(a, b)
	limit := min(maxEdits, len(a)+len(b), maxSteps/(len(a)+len(b)+1))
	trace, ok := search(x, y, limit)
	if !ok {
		return mark(mark(lines, '-', a), '+', b)
	}
	return append(lines, retrace(trace, a, b)...)
}

// number gives equal lines equal numbers, which are faster to compare.
func number(a, b []string) (x, y []int) {
	known := make(map[string]int, len(a))
	each := func(lines []string) []int {
		out := make([]int, len(lines))
		for k, line := range lines {
			n, ok := known[line]
			if !ok {
				n = len(known)
				known[line] = n
			}
			out[k] = n
		}
		return out
	}
	return each(a), each(b)
}

// search goes forward by the number of edits: how far each diagonal gets with
// d of them, from how far its neighbours got with one less. Diagonal k holds
// the places where x is k lines ahead of y; trace[d] has -d to d.
func search(a, b []int, limit int) (trace [][]int, ok bool) {
	for d := 0; d <= limit; d++ {
		reach := make([]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x, _ = step(trace[d-1], d, k)
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			if reach[k+d] = x; x >= len(a) && x-k >= len(b) {
				return append(trace, reach), true
			}
		}
		trace = append(trace, reach)
	}
	return nil, false
}

// step is where an edit leads to on diagonal k from those of d-1 edits, and
// the diagonal it comes from: a line added from the one above, or removed from
// the one below.
func step(before []int, d, k int) (x, from int) {
	at := func(k int) int { return before[k+d-1] }
	if k == -d || k != d && at(k-1) < at(k+1) {
		return at(k + 1), k + 1
	}
	return at(k-1) + 1, k - 1
}

// retrace goes back along a trace and tells the edits in their order.
func retrace(trace [][]int, a, b []string) []Line {
	lines := make([]Line, 0, len(a)+len(trace))
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		start, from := 0, 0
		if d > 0 {
			start, from = step(trace[d-1], d, x-y)
		}
		for x > start {
			x, y = x-1, y-1
			lines = append(lines, Line{' ', a[x]})
		}
		switch {
		case d == 0:
		case from > x-y:
			y--
			lines = append(lines, Line{'+', b[y]})
		default:
			x--
			lines = append(lines, Line{'-', a[x]})
		}
	}
	slices.Reverse(lines)
	return lines
}
