package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A Value is a record's value, prepared for templates.
type Value struct {
	Kind  string // text, block, word, empty, map, list, words or table
	Text  string
	Rows  []Row     // entries of a map
	Items []Value   // items of a list
	Cols  []string  // columns of a table
	Cells [][]Value // table rows, in the order of Cols
	More  int       // number of omitted values
}

type Row struct {
	Key   string
	Value Value
}

// A Record is a record prepared for users: first simple values, then one section per
// compound value.
type Record struct {
	Plain    []Row
	Sections []Row
	Cut      bool // values were omitted
}

// Limits of shown values; the raw text has all values.
const (
	maxValues  = 4000 // values per record
	maxElems   = 200  // values per list or map
	maxText    = 8000 // bytes per text
	maxColumns = 6    // columns per table; wider tables become lists
)

// A shower converts a document into a limited number of values.
type shower struct{ left int }

func showRecord(doc *checkpoint.Map) Record {
	s := &shower{left: maxValues}
	var r Record
	for key, v := range doc.All() {
		switch shown := s.value(v); shown.Kind {
		case "map", "list", "words", "table", "block":
			r.Sections = append(r.Sections, Row{line(cut(key, maxLine)), shown})
		default:
			r.Plain = append(r.Plain, Row{line(cut(key, maxLine)), shown})
		}
	}
	r.Cut = s.left <= 0
	return r
}

func (s *shower) value(v any) Value {
	s.left--
	switch v := v.(type) {
	case nil:
		return Value{Kind: "word", Text: "null"}
	case bool:
		return Value{Kind: "word", Text: strconv.FormatBool(v)}
	case checkpoint.Number:
		return Value{Kind: "word", Text: line(cut(string(v), maxLine))}
	case string:
		return textValue(v)
	case *checkpoint.Map:
		return s.mapping(v)
	case []any:
		return s.list(v)
	}
	return Value{Kind: "empty"}
}

// textValue returns a text value, of kind block if it has several lines.
func textValue(v string) Value {
	kept := cut(v, maxText)
	shown := Value{Kind: "text", Text: block(kept), More: len(v) - len(kept)}
	for i := range len(kept) {
		if kept[i] == '\n' {
			shown.Kind = "block"
		}
	}
	if v == "" {
		shown.Kind = "empty"
	}
	return shown
}

func (s *shower) mapping(m *checkpoint.Map) Value {
	if m.Len() == 0 {
		return Value{Kind: "empty"}
	}
	shown := Value{Kind: "map"}
	for key, v := range m.All() {
		if s.left <= 0 || len(shown.Rows) == maxElems {
			shown.More = m.Len() - len(shown.Rows)
			break
		}
		shown.Rows = append(shown.Rows, Row{line(cut(key, maxLine)), s.value(v)})
	}
	return shown
}

func (s *shower) list(list []any) Value {
	if len(list) == 0 {
		return Value{Kind: "empty"}
	}
	if cols := columns(list); cols != nil {
		return s.table(list, cols)
	}
	shown := Value{Kind: "list"}
	for _, v := range list {
		if s.left <= 0 || len(shown.Items) == maxElems {
			shown.More = len(list) - len(shown.Items)
			break
		}
		shown.Items = append(shown.Items, s.value(v))
	}
	if brief(shown.Items) {
		shown.Kind = "words"
	}
	return shown
}

// brief reports whether values fit on one or two lines.
func brief(items []Value) bool {
	n := 0
	for _, v := range items {
		n += len(v.Text) + 4
		if v.Kind != "word" && v.Kind != "text" || len(v.Text) > 40 {
			return false
		}
	}
	return n < 160
}

// columns returns the keys of a list of maps that can be shown as a table: few keys with
// flat values. It returns nil for other lists.
func columns(list []any) []string {
	var cols []string
	seen := map[string]bool{}
	for _, v := range list[:min(len(list), maxElems)] {
		m, ok := v.(*checkpoint.Map)
		if !ok || m.Len() == 0 {
			return nil
		}
		for key, v := range m.All() {
			if !seen[key] {
				seen[key], cols = true, append(cols, key)
			}
			if !flat(v) || len(cols) > maxColumns {
				return nil
			}
		}
	}
	return cols
}

// flat reports whether a value fits in a table cell.
func flat(v any) bool {
	switch v := v.(type) {
	case *checkpoint.Map:
		return v.Len() == 0
	case []any:
		return len(v) == 0
	case string:
		return len(v) <= maxLine
	}
	return true
}

func (s *shower) table(list []any, cols []string) Value {
	shown := Value{Kind: "table"}
	for _, c := range cols {
		shown.Cols = append(shown.Cols, line(cut(c, maxLine)))
	}
	for _, v := range list {
		if s.left <= 0 || len(shown.Cells) == maxElems {
			shown.More = len(list) - len(shown.Cells)
			break
		}
		row := make([]Value, len(cols))
		for i, c := range cols {
			if cell, ok := v.(*checkpoint.Map).Get(c); ok {
				row[i] = s.value(cell)
			}
		}
		shown.Cells = append(shown.Cells, row)
	}
	return shown
}

// A Timing is the duration of a step, from start and end times in a record.
type Timing struct {
	Of, Began, Took string
	Wrong           bool // end precedes start
}

// maxTimings limits rows in a table of timings.
const maxTimings = 200

// timings finds pairs of start and end times in a record: maps with started_at and
// completed_at, or x_start and x_end. The workflow ends at completed_at, updated_at or
// the record's created_at. Duplicates from an embedded document are omitted.
func timings(doc *checkpoint.Map) (list []Timing) {
	seen := map[string]bool{}
	add := func(name string, from, to time.Time) {
		key := fmt.Sprint(name, from.UnixNano(), to.UnixNano())
		if from.IsZero() || to.IsZero() || seen[key] || len(list) >= maxTimings {
			return
		}
		seen[key] = true
		row := Timing{Of: line(cut(strings.TrimSpace(name), maxLine)), Began: stamp(from, from).Exact, Took: took(to.Sub(from))}
		if to.Before(from) {
			row.Took, row.Wrong = "it ends "+took(from.Sub(to))+" before it begins", true
		}
		list = append(list, row)
	}
	var walk func(name string, v any, depth int)
	walk = func(name string, v any, depth int) {
		if depth > 8 || len(list) >= maxTimings {
			return
		}
		switch v := v.(type) {
		case *checkpoint.Map:
			if name != "workflow" {
				add(name, at(v, "started_at"), at(v, "completed_at"))
			}
			for key, e := range v.All() {
				if what, ok := strings.CutSuffix(key, "_start"); ok {
					add(name+" "+what, at(v, key), at(v, what+"_end"))
				}
				walk(key, e, depth+1)
			}
		case []any:
			for i, e := range v {
				walk(fmt.Sprintf("%s[%d]", name, i), e, depth+1)
			}
		}
	}
	if flow := doc.Sub("workflow"); flow != nil {
		end := at(flow, "completed_at", "updated_at")
		if end.IsZero() {
			end = at(doc, "created_at")
		}
		add("workflow", at(flow, "started_at"), end)
	}
	walk("", doc, 0)
	return list
}

// at returns the first valid time among keys.
func at(m *checkpoint.Map, keys ...string) time.Time {
	for _, key := range keys {
		if v, ok := m.Get(key); ok {
			if when, err := checkpoint.ParseTime(v); err == nil {
				return when
			}
		}
	}
	return time.Time{}
}

// took formats a duration in its two largest units.
func took(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d d %d h", d/day, d%day/time.Hour)
}
