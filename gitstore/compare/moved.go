package compare

import (
	"fmt"
	"slices"
)

// staying marks the new elements that did not move: a longest run of paired
// ones whose order is the same on both sides.
func (p *pairing) staying() []bool {
	var ends []int // ends[n] is where the run of n+1 that ends lowest ends, in to
	before := none(len(p.to))
	for j, i := range p.oldOf {
		if i < 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, i, func(end, i int) int { return p.oldOf[end] - i })
		if n > 0 {
			before[j] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, j)
		}
		ends[n] = j
	}
	stays := make([]bool, len(p.to))
	if len(ends) == 0 {
		return stays
	}
	for j := ends[len(ends)-1]; j >= 0; j = before[j] {
		stays[j] = true
	}
	return stays
}

// fillGaps pairs, between two elements that stayed, what is left on both sides,
// in its order: an element that says something else now.
func (p *pairing) fillGaps(stays []bool) {
	i := 0
	for j := 0; j <= len(p.to); j++ {
		if j < len(p.to) && !stays[j] {
			continue
		}
		end := len(p.from)
		if j < len(p.to) {
			end = p.oldOf[j]
		}
		p.fillGap(i, end, j, stays)
		i = end + 1
	}
}

// fillGap pairs what is left of the old elements from i to end with what is
// left of the new ones before j.
func (p *pairing) fillGap(i, end, j int, stays []bool) {
	at := j
	for at > 0 && !stays[at-1] {
		at--
	}
	for ; at < j; at++ {
		if p.oldOf[at] >= 0 {
			continue
		}
		for i < end && (p.newOf[i] >= 0 || !alike(p.from[i], p.to[at])) {
			i++
		}
		if i >= end {
			return
		}
		p.oldOf[at], p.newOf[i] = i, at
		stays[at] = true
		i++
	}
}

// alike reports whether one value can have become the other rather than have
// made room for it.
func alike(a, b any) bool { return fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b) }
