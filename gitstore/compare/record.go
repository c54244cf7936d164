package compare

import (
	"git-checkpoint/gitstore/checkpoint"
)

// An Op is what became of a path.
type Op string

// The ops. The sides of a move are the places of an element in its list.
const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
	Moved   Op = "moved"
)

// A FieldChange is one path that differs. The side that does not have it is nil.
type FieldChange struct {
	Path     string // as Lookup reads it
	Name     string // the same for people: elements go by their key
	Op       Op
	Old, New any
}

// Records lists what changed from one document to another, nil for nothing.
// Either may be nil. What was added or removed whole is one change.
func Records(from, to *checkpoint.Map) []FieldChange {
	var w walk
	w.mapping(place{}, from, to)
	return w.changes
}

// A place is where the walk is.
type place struct{ path, name string }

// key is the place of a key below p.
func (p place) key(key string) place {
	return place{checkpoint.PathOf(p.path, key), checkpoint.PathOf(p.name, key)}
}

// element is the place of an element below p, which goes by a name where it
// has one.
func (p place) element(k int, name string) place {
	at := place{checkpoint.PathOf(p.path, k), checkpoint.PathOf(p.name, k)}
	if name != "" {
		at.name = p.name + "[" + name + "]"
	}
	return at
}

// A walk goes through two documents at once.
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
