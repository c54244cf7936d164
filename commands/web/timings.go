package web

import (
	"fmt"
	"strings"
	"time"

	"git-checkpoint/commands/internal/view"
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
func timings(doc *checkpoint.Map) (list []Timing) {
	seen := map[string]bool{}
	add := func(name string, from, to time.Time) {
		key := fmt.Sprint(name, from.UnixNano(), to.UnixNano())
		if from.IsZero() || to.IsZero() || seen[key] || len(list) >= maxTimings {
			return
		}
		seen[key] = true
		row := Timing{Of: view.CutBytes(strings.TrimSpace(name), maxLine), Began: stamp(from, from).Exact, Took: to.Sub(from).Truncate(time.Second).String()}
		if to.Before(from) {
			row.Took, row.Wrong = "it ends "+from.Sub(to).Truncate(time.Second).String()+" before it begins", true
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
