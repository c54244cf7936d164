package checkpoint

import (
	"strings"
	"time"
)

// Version is the schema version that is written.
const Version = "1.0"

// Record is one checkpoint's document: the crunch schema, what this program
// adds to it, and whatever else was in it.
type Record struct{ doc *Map }

// New returns a record that says only its version.
func New() *Record {
	r := &Record{NewMap()}
	r.doc.Set("version", Version)
	return r
}

// FromDoc returns a record over m without looking at it; the record owns m
// from then on. A nil m is an empty document.
func FromDoc(m *Map) *Record {
	if m == nil {
		m = NewMap()
	}
	return &Record{m}
}

// Doc returns the document itself: changes to it change the record.
func (r *Record) Doc() *Map { return r.doc }

// Clone returns a copy that shares nothing with r.
func (r *Record) Clone() *Record { return &Record{r.doc.Clone()} }

// section returns the mapping under key, nil if there is none.
func (r *Record) section(key string) *Map {
	m, _ := r.doc.child(key)
	return m
}

// mustSection returns the mapping under key and makes it if need be.
func (r *Record) mustSection(key string) *Map {
	if m, ok := r.doc.child(key); ok {
		return m
	}
	m := NewMap()
	r.doc.Set(key, m)
	return m
}

// setOrDelete keeps the document free of empty optional text.
func setOrDelete(m *Map, key, v string) {
	if v == "" {
		m.Delete(key)
		return
	}
	m.Set(key, v)
}

// text returns a text or a number as it is written, else "".
func text(m *Map, key string) string {
	v, _ := m.Get(key)
	return asText(v)
}

func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case Number:
		return string(v)
	}
	return ""
}

// integer reads a number, or a text that is one.
func integer(m *Map, key string) int64 {
	n, _ := Number(text(m, key)).Int()
	return n
}

func boolean(m *Map, key string, absent bool) bool {
	v, _ := m.Get(key)
	if b, ok := v.(bool); ok {
		return b
	}
	return absent
}

func moment(m *Map, key string) time.Time {
	v, _ := m.Get(key)
	t, err := ParseTime(v)
	if err != nil {
		return time.Time{}
	}
	return t
}

func texts(m *Map, key string) []string {
	v, _ := m.Get(key)
	l, _ := v.([]any)
	var out []string
	for _, v := range l {
		if s := asText(v); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func integers(m *Map, key string) []int {
	var out []int
	for _, s := range texts(m, key) {
		if n, ok := Number(s).Int(); ok {
			out = append(out, int(n))
		}
	}
	return out
}

// mappings returns the elements of a list that are mappings.
func mappings(m *Map, key string) []*Map {
	v, _ := m.Get(key)
	l, _ := v.([]any)
	var out []*Map
	for _, v := range l {
		if sub, ok := v.(*Map); ok && sub != nil {
			out = append(out, sub)
		}
	}
	return out
}

// major returns what stands before the first dot of a version.
func major(version string) string {
	m, _, _ := strings.Cut(version, ".")
	return m
}
