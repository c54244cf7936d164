package checkpoint

import (
	"slices"
	"time"
)

// value converts a Go value to a document value. Unknown types are unchanged; encoding
// rejects them.
func value(v any) any {
	switch v := v.(type) {
	case int:
		return Int(int64(v))
	case int64:
		return Int(v)
	case float64:
		return Float(v)
	case []string:
		return list(v)
	case []int:
		return list(v)
	case map[string]any:
		return fromGoMap(v)
	case []any:
		for k := range v {
			v[k] = value(v[k])
		}
		return v
	case []*Map:
		return list(v)
	case Issue:
		return string(v)
	case ID:
		return string(v)
	case Trigger:
		return string(v)
	case Clock:
		return Int(int64(v))
	case time.Time:
		return FormatTime(v)
	}
	return v
}

func list[T any](in []T) []any {
	out := make([]any, len(in))
	for k := range in {
		out[k] = value(in[k])
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
