package web

import (
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

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
func timings(doc *checkpoint.Map) []Timing {
	t := &timer{seen: map[string]bool{}}
	if flow, ok := doc.Lookup("workflow"); ok {
		if m, ok := flow.(*checkpoint.Map); ok {
			end := at(m, "completed_at", "updated_at")
			if end.IsZero() {
				end = at(doc, "created_at")
			}
			t.add("workflow", at(m, "started_at"), end)
		}
	}
	t.walk("", doc, 0)
	return t.list
}

// A timer collects timings in a document.
type timer struct {
	list []Timing
	seen map[string]bool
}

// deepest limits the search depth.
const deepest = 8

func (t *timer) walk(name string, v any, depth int) {
	if depth > deepest || len(t.list) >= maxTimings {
		return
	}
	switch v := v.(type) {
	case *checkpoint.Map:
		t.mapping(name, v, depth)
	case []any:
		for i, e := range v {
			t.walk(fmt.Sprintf("%s[%d]", name, i), e, depth+1)
		}
	}
}

func (t *timer) mapping(name string, m *checkpoint.Map, depth int) {
	if name != "workflow" {
		t.add(name, at(m, "started_at"), at(m, "completed_at"))
	}
	for key, v := range m.All() {
		if what, ok := strings.CutSuffix(key, "_start"); ok {
			t.add(name+" "+what, at(m, key), at(m, what+"_end"))
		}
		t.walk(key, v, depth+1)
	}
}

// add records a duration if both times are known.
func (t *timer) add(name string, from, to time.Time) {
	if from.IsZero() || to.IsZero() || len(t.list) >= maxTimings {
		return
	}
	key := fmt.Sprint(name, from.UnixNano(), to.UnixNano())
	if t.seen[key] {
		return
	}
	t.seen[key] = true
	row := Timing{Of: line(cut(strings.TrimSpace(name), maxLine)), Began: stamp(from, from).Exact, Took: took(to.Sub(from))}
	if to.Before(from) {
		row.Took, row.Wrong = "it ends "+took(from.Sub(to))+" before it begins", true
	}
	t.list = append(t.list, row)
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
