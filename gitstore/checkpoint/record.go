package checkpoint

import (
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Version is the schema version of new records.
const Version = "1.0"

// Record is the document of a checkpoint: the crunch schema, git-checkpoint's own keys,
// and unknown keys.
type Record struct{ doc *Map }

// New returns a record with only a version.
func New() *Record {
	r := &Record{NewMap()}
	r.doc.Set("version", Version)
	return r
}

// FromDoc returns a record with document m, unchecked. The record takes ownership of m. A
// nil m means an empty document.
func FromDoc(m *Map) *Record {
	if m == nil {
		m = NewMap()
	}
	return &Record{m}
}

// Doc returns the document. Changes to it modify the record.
func (r *Record) Doc() *Map { return r.doc }

// Clone returns a deep copy of r.
func (r *Record) Clone() *Record { return &Record{r.doc.Clone()} }

// section returns the mapping under key, nil if missing.
func (r *Record) section(key string) *Map {
	m, _ := r.doc.Child(key)
	return m
}

// mustSection returns the mapping under key and creates it if necessary.
func (r *Record) mustSection(key string) *Map {
	if m, ok := r.doc.Child(key); ok {
		return m
	}
	m := NewMap()
	r.doc.Set(key, m)
	return m
}

// setOrDelete sets a text, or deletes the key if the text is empty.
func setOrDelete(m *Map, key, v string) {
	if v == "" {
		m.Delete(key)
		return
	}
	m.Set(key, v)
}

// integer returns a number, or a number written as text.
func integer(m *Map, key string) int64 {
	n, _ := Number(document.TextOf(m, key)).Int()
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

func integers(m *Map, key string) []int {
	var out []int
	for _, s := range document.TextsOf(m, key) {
		if n, ok := Number(s).Int(); ok {
			out = append(out, int(n))
		}
	}
	return out
}

// mappings returns all mappings in a list.
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

// major returns the part of a version before the first dot.
func major(version string) string {
	m, _, _ := strings.Cut(version, ".")
	return m
}

// JSON returns the record as a line of JSON, with the key order of Encode and unchanged
// numbers.
func (r *Record) JSON() ([]byte, error) {
	b, err := document.AppendJSON(nil, recordSchema.ordered(r.doc), 0)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return b, nil
}

// MarshalJSON returns the output of JSON.
func (r *Record) MarshalJSON() ([]byte, error) { return r.JSON() }
