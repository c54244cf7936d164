package diff

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// keyNames lists the keys that can identify a list element, the most reliable key first.
var keyNames = []string{"id", "task_id", "checkpoint_id", "path", "agent", "phase", "number", "key", "name"}

func (w *walk) list(at place, from, to []any) {
	isShared := func(key string) bool { return distinct(from, key) && distinct(to, key) }
	shared := slices.IndexFunc(keyNames, isShared)
	if shared < 0 {
		w.edits(at, from, to)
		return
	}
	key := keyNames[shared]
	placeOf := func(k int, id string) place {
		if strings.Trim(id, "0123456789") == "" {
			id = key + "=" + id // a bare number would read as an index
		}
		return at.element(k, id)
	}
	oldKeys, newKeys := keysOf(from, key), keysOf(to, key)
	i, j := 0, 0
	for _, l := range Edit(oldKeys, newKeys) {
		old, isOld := i, true
		switch l.Op {
		case '-':
			if !slices.Contains(newKeys, l.Text) {
				w.add(placeOf(i, l.Text), Removed, from[i], nil)
			}
			i++
			continue
		case '+':
			old = slices.Index(oldKeys, l.Text)
			if isOld = old >= 0; isOld && old != j {
				w.add(placeOf(j, l.Text), Moved, checkpoint.Int(int64(old)), checkpoint.Int(int64(j)))
			}
		default:
			i++
		}
		if isOld {
			w.value(placeOf(j, l.Text), from[old], to[j])
		} else {
			w.add(placeOf(j, l.Text), Added, nil, to[j])
		}
		j++
	}
}

// edits compares lists without a shared key by the contents of their elements. If an element was removed
// and one of the same type was added at its place, the element has changed.
func (w *walk) edits(at place, from, to []any) {
	i, j := 0, 0
	lines := Edit(contents(from), contents(to))
	for k := 0; k < len(lines); {
		if lines[k].Op == ' ' {
			i, j, k = i+1, j+1, k+1
			continue
		}
		gone, came := i, j
		for ; k < len(lines) && lines[k].Op != ' '; k++ {
			if lines[k].Op == '-' {
				i++
			} else {
				j++
			}
		}
		for ; gone < i || came < j; gone, came = gone+1, came+1 {
			if gone < i && came < j && reflect.TypeOf(from[gone]) == reflect.TypeOf(to[came]) {
				w.value(at.element(came, ""), from[gone], to[came])
				continue
			}
			if gone < i {
				w.add(at.element(gone, ""), Removed, from[gone], nil)
			}
			if came < j {
				w.add(at.element(came, ""), Added, nil, to[came])
			}
		}
	}
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

// contents returns texts that identify the elements of a list without a shared key.
func contents(list []any) []string {
	texts := make([]string, len(list))
	for k, v := range list {
		switch v := v.(type) {
		case string:
			texts[k] = strconv.Quote(v)
		case checkpoint.Number:
			texts[k] = string(v)
		default:
			data, _ := json.Marshal(v) // "" for what is not a document value
			texts[k] = string(data)
		}
	}
	return texts
}

// keysOf returns the values of a key in the elements of a list.
func keysOf(list []any, key string) []string {
	keys := make([]string, len(list))
	for k, v := range list {
		keys[k], _ = keyIn(v, key)
	}
	return keys
}
