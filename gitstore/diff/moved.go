package diff

import (
	"fmt"
	"slices"
)

// staying marks the new elements that did not move: a longest increasing subsequence of
// the paired elements.
func (p *pairing) staying() []bool {
	var ends []int // ends[n] is the index in p.to of the last element of the best run of length n+1
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

// fillGaps pairs the unpaired elements between two unmoved elements in list order. Such a
// pair is a changed element.
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

// fillGap pairs the unpaired old elements in [i, end) with the unpaired new elements
// before j.
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

// alike reports whether both values have the same type, so that a change is more likely
// than a removal and an addition.
func alike(a, b any) bool { return fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b) }
