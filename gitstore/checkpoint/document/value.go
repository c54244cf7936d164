package document

import (
	"slices"
	"time"
)

// A valuer is a type with a value in documents.
type valuer interface{ DocumentValue() any }

// ValueOf converts a Go value to a document value. Unknown types are unchanged; encoding
// rejects them.
func ValueOf(v any) any {
	switch v := v.(type) {
	case nil, bool, string, Number, *Map:
		return v
	case int:
		return Int(int64(v))
	case int64:
		return Int(v)
	case float64:
		return Float(v)
	case []string:
		return ListOf(v)
	case []int:
		return ListOf(v)
	case map[string]any:
		return fromGoMap(v)
	case []any:
		for k := range v {
			v[k] = ValueOf(v[k])
		}
		return v
	case []*Map:
		return ListOf(v)
	case valuer:
		return v.DocumentValue()
	case time.Time:
		return v.UTC().Format(TimeLayout)
	}
	return v
}

func ListOf[T any](in []T) []any {
	out := make([]any, len(in))
	for k := range in {
		out[k] = ValueOf(in[k])
	}
	return out
}

// fromGoMap sorts the keys, because Go maps are unordered.
func fromGoMap(in map[string]any) *Map {
	m := NewMap()
	keys := make([]string, 0, len(in))
	for key := range in {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		m.Set(key, in[key])
	}
	return m
}

// TimeLayout is the layout of all written times: UTC, fixed width.
const TimeLayout = "2006-01-02T15:04:05.000000Z"
