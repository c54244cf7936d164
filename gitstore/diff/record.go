// Package diff computes the differences between two records or two texts. All functions
// are pure.
//
// Records compares two records, and Edit compares two lists of lines.
//
// Mappings are compared key by key; key order is ignored, and null means absent.
//
// List elements are paired by a shared key. This is the first of keyNames that every
// element of both lists has with a distinct value. Paired elements in a different order have
// moved. Lists without such a key are compared like lines of
// texts, by the contents of their elements.
//
// The path of a change is a path in the new record, or in the old record if the value was
// removed. checkpoint.Map.Lookup reads these paths.
package diff

import "git-checkpoint/gitstore/checkpoint"

// An Op is the kind of a change.
type Op string

// The values of Op. Old and New of a move are the indexes of the element in its lists.
const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
	Moved   Op = "moved"
)

// A FieldChange is a difference at one path. Old is nil for an added path, and New is nil
// for a removed path.
type FieldChange struct {
	Path string `json:"path"` // path for Map.Lookup
	Name string // path for display, with the key of a list element instead of its index
	Op   Op     `json:"op"`
	Old  any    `json:"old"` // nil without the path; for a moved element its index
	New  any    `json:"new"` // likewise
}

// Records returns the changes between two documents, nil if they are equal. Either
// document may be nil. An added or removed mapping or list is one change.
func Records(from, to *checkpoint.Map) []FieldChange {
	var w walk
	w.mapping(place{}, from, to)
	return w.changes
}

// A place is the current position of the walk.
type place struct{ path, name string }

// key returns the place of a mapping key below p.
func (p place) key(key string) place {
	return place{checkpoint.PathOf(p.path, key), checkpoint.PathOf(p.name, key)}
}

// element returns the place of list element k below p. A nonempty name replaces the index
// in the display path.
func (p place) element(k int, name string) place {
	at := place{checkpoint.PathOf(p.path, k), checkpoint.PathOf(p.name, k)}
	if name != "" {
		at.name = p.name + "[" + name + "]"
	}
	return at
}

// A walk traverses two documents in parallel and collects changes.
type walk struct{ changes []FieldChange }

func (w *walk) add(at place, op Op, from, to any) {
	w.changes = append(w.changes, FieldChange{Path: at.path, Name: at.name, Op: op, Old: from, New: to})
}

func (w *walk) mapping(at place, from, to *checkpoint.Map) {
	for key, old := range from.All() {
		now, _ := to.Get(key)
		w.value(at.key(key), old, now)
	}
	for key, now := range to.All() {
		if _, both := from.Get(key); !both {
			w.value(at.key(key), nil, now)
		}
	}
}

func (w *walk) value(at place, from, to any) {
	oldMap, wasMap := from.(*checkpoint.Map)
	newMap, isMap := to.(*checkpoint.Map)
	oldList, wasList := from.([]any)
	newList, isList := to.([]any)
	switch {
	case from == nil && to == nil:
	case from == nil:
		w.add(at, Added, nil, to)
	case to == nil:
		w.add(at, Removed, from, nil)
	case wasMap && isMap:
		w.mapping(at, oldMap, newMap)
	case wasList && isList:
		w.list(at, oldList, newList)
	case !checkpoint.Equal(from, to):
		w.add(at, Changed, from, to)
	}
}
