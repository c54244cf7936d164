package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// keyNames lists the keys that can identify a list element, the most reliable key first.
var keyNames = [...]string{"id", "task_id", "checkpoint_id", "path", "agent", "phase", "number", "key", "name"}

// A pairing maps the elements of two lists to each other by index.
type pairing struct {
	at       place
	from, to []any
	key      string // shared key of the elements, "" if they are paired by content
	oldOf    []int  // index of the old element for each new element, -1 if unpaired
	newOf    []int  // index of the new element for each old element, -1 if unpaired
}

func (w *walk) list(at place, from, to []any) {
	p := pair(at, from, to)
	stays := p.staying()
	if p.key == "" {
		p.fillGaps(stays)
	}
	for i, old := range from {
		if p.newOf[i] < 0 {
			w.add(p.placeOf(i, old), Removed, old, nil)
		}
	}
	for j, now := range to {
		i := p.oldOf[j]
		if i < 0 {
			w.add(p.placeOf(j, now), Added, nil, now)
			continue
		}
		if !stays[j] {
			w.add(p.placeOf(j, now), Moved, checkpoint.Int(int64(i)), checkpoint.Int(int64(j)))
		}
		if (from[i] == nil) != (now == nil) { // inside a list, null is a value like any other
			w.add(p.placeOf(j, now), Changed, from[i], now)
		} else {
			w.value(p.placeOf(j, now), from[i], now)
		}
	}
}

func (p *pairing) placeOf(k int, v any) place {
	if p.key == "" {
		return p.at.element(k, "")
	}
	name, _ := keyIn(v, p.key)
	if strings.Trim(name, "0123456789") == "" {
		name = p.key + "=" + name // a bare number would read as an index
	}
	return p.at.element(k, name)
}

// pair pairs the elements of both lists by key or content.
func pair(at place, from, to []any) *pairing {
	p := &pairing{at: at, from: from, to: to, key: sharedKey(from, to), oldOf: none(len(to)), newOf: none(len(from))}
	where := make(map[string][]int, len(from))
	for i, v := range from {
		id := p.identity(v)
		where[id] = append(where[id], i)
	}
	for j, v := range to {
		id := p.identity(v)
		if same := where[id]; len(same) > 0 {
			p.oldOf[j], p.newOf[same[0]] = same[0], j
			where[id] = same[1:]
		}
	}
	return p
}

func none(n int) []int {
	l := make([]int, n)
	for k := range l {
		l[k] = -1
	}
	return l
}

// identity returns the key value or the content of a list element.
func (p *pairing) identity(v any) string {
	if p.key != "" {
		id, _ := keyIn(v, p.key)
		return id
	}
	return content(v)
}

// sharedKey returns the first key with distinct values in both lists, "" if no key
// qualifies.
func sharedKey(lists ...[]any) string {
	for _, key := range keyNames {
		if distinct(lists[0], key) && distinct(lists[1], key) {
			return key
		}
	}
	return ""
}

// distinct reports whether every element has the key, each with a different value.
func distinct(l []any, key string) bool {
	seen := make(map[string]bool, len(l))
	for _, v := range l {
		id, ok := keyIn(v, key)
		if !ok || seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// keyIn returns the value of a key in a list element if the value is a number or a
// nonempty text.
func keyIn(v any, key string) (string, bool) {
	m, ok := v.(*checkpoint.Map)
	if !ok {
		return "", false
	}
	switch id, _ := m.Get(key); id := id.(type) {
	case string:
		return id, id != ""
	case checkpoint.Number:
		return string(id), true
	}
	return "", false
}

// content returns the text that identifies a list element without a shared key.
func content(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case checkpoint.Number:
		return string(v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "" // not a document value; elements of this kind are treated as equal
	}
	return string(data)
}

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
// before j, if both have the same type: then a change is likely.
func (p *pairing) fillGap(i, end, j int, stays []bool) {
	at := j
	for at > 0 && !stays[at-1] {
		at--
	}
	for ; at < j; at++ {
		if p.oldOf[at] >= 0 {
			continue
		}
		for i < end && (p.newOf[i] >= 0 || fmt.Sprintf("%T", p.from[i]) != fmt.Sprintf("%T", p.to[at])) {
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
