package web

import (
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/diff"
)

// A StateRow is a changed path in the record.
type StateRow struct {
	Path, Op string
	Old, New *Value
	Hunks    []Hunk // replace Old and New for multi-line values
}

// maxChanges limits rows in a table of changes.
const maxChanges = 1000

// always reports whether a path differs between all checkpoints and is irrelevant.
func always(path string) bool {
	return path == "checkpoint_id" || path == "created_at" || path == "clock"
}

// stateRows returns changes between two records.
func stateRows(from, to *checkpoint.Map, b *budget) []StateRow {
	var rows []StateRow
	s := &shower{left: maxValues}
	for _, c := range diff.Records(from, to) {
		if len(rows) == maxChanges || s.left <= 0 {
			break
		}
		if !always(c.Path) {
			rows = append(rows, s.row(c, b))
		}
	}
	return rows
}

// row shows short values side by side and other values as a line diff.
func (s *shower) row(c diff.FieldChange, b *budget) StateRow {
	row := StateRow{Path: line(cut(c.Name, maxLine)), Op: string(c.Op)}
	if side(c.Old) && side(c.New) || b.spend() == 0 {
		row.Old, row.New = s.half(c.Old), s.half(c.New)
		return row
	}
	old, now := text(c.Old), text(c.New)
	if old == "" || now == "" || strings.HasSuffix(old, "\n") && strings.HasSuffix(now, "\n") {
		old, now = strings.TrimSuffix(old, "\n"), strings.TrimSuffix(now, "\n") // newlines at both ends
	}
	row.Hunks, _ = textHunks(old, now, b.spend())
	for _, h := range row.Hunks {
		b.page -= len(h.Lines)
	}
	return row
}

func (s *shower) half(v any) *Value {
	if v == nil {
		return nil
	}
	shown := s.value(v)
	return &shown
}

// side reports whether a value is short enough to be shown side by side.
func side(v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.Contains(v, "\n") && len(v) <= maxLine
	case []any:
		return len(v) == 0
	case *checkpoint.Map:
		return v.Len() == 0
	}
	return true
}

// text converts a value to lines: strings unchanged, other values as YAML.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return cut(v, maxPatch)
	case *checkpoint.Map:
		if data, err := checkpoint.FromDoc(v).Encode(); err == nil {
			return cut(string(data), maxPatch)
		}
	case []any:
		m := checkpoint.NewMap()
		m.Set("list", v)
		if data, err := checkpoint.FromDoc(m).Encode(); err == nil {
			_, data, _ := strings.Cut(string(data), "\n")
			return cut(data, maxPatch)
		}
	}
	return firstLine(fmt.Sprint(v))
}
