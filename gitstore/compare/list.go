package compare

import (
	"encoding/json"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// keyNames are the keys that elements may be known by, the surest first.
var keyNames = [...]string{"id", "task_id", "checkpoint_id", "path", "agent", "phase", "number", "key", "name"}

// A pairing says which elements of two lists are the same, by their places.
type pairing struct {
	at       place
	from, to []any
	key      string // that the elements are known by, "" for none
	oldOf    []int  // for each new element the old one, -1 for none
	newOf    []int  // for each old element the new one, -1 for none
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
		w.element(p.placeOf(j, now), from[i], now)
	}
}

// element compares two elements that are the same one. In a list, null is an
// element like any other.
func (w *walk) element(at place, from, to any) {
	if (from == nil) != (to == nil) {
		w.add(at, Changed, from, to)
		return
	}
	w.value(at, from, to)
}

func (p *pairing) placeOf(k int, v any) place {
	if p.key == "" {
		return p.at.element(k, "")
	}
	name, _ := keyIn(v, p.key)
	if strings.Trim(name, "0123456789") == "" {
		name = p.key + "=" + name // which is no place
	}
	return p.at.element(k, name)
}

// pair finds the elements that are in both lists.
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

// identity is what an element is known by.
func (p *pairing) identity(v any) string {
	if p.key != "" {
		id, _ := keyIn(v, p.key)
		return id
	}
	return content(v)
}

// sharedKey is the first key by which the elements of both lists differ from
// each other, "" for none.
func sharedKey(lists ...[]any) string {
	for _, key := range keyNames {
		if distinct(lists[0], key) && distinct(lists[1], key) {
			return key
		}
	}
	return ""
}

// distinct reports whether every element has the key, and no two the same.
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

// keyIn is the value of a key in an element, where it is a text or a number.
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

// content tells elements apart that have no key.
func content(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case checkpoint.Number:
		return string(v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "" // no document value; it is compared all the same
	}
	return string(data)
}
