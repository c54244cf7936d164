package document

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// ValueOf converts a Go value to a document value. Types of texts, integers and slices become
// such values. Other types are unchanged; encoding rejects them.
func ValueOf(v any) any {
	switch v := v.(type) {
	case nil, bool, string, Number, *Map:
		return v
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return s
		}
		return Number(s)
	case map[string]any:
		m := NewMap()
		for _, key := range slices.Sorted(maps.Keys(v)) { // Go maps are unordered
			m.Set(key, v[key])
		}
		return m
	case []any:
		for k := range v {
			v[k] = ValueOf(v[k])
		}
		return v
	case time.Time:
		return v.UTC().Format(TimeLayout)
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String:
		return r.String()
	case reflect.Int, reflect.Int64:
		return Int(r.Int())
	case reflect.Slice:
		list := make([]any, r.Len())
		for k := range list {
			list[k] = ValueOf(r.Index(k).Interface())
		}
		return list
	}
	return v
}

// TimeLayout is the layout of all written times: UTC, fixed width.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// Number is a number in its original spelling, so that size and precision are preserved.
// Only JSON numbers qualify: 0755, 0x1f, 1_000 and .inf, which YAML parsers interpret
// differently, are text.
type Number string

// Int returns n as a Number.
func Int(n int64) Number { return Number(strconv.FormatInt(n, 10)) }

// Int returns the value of an integer literal, and false if it does not fit 64 bits.
func (n Number) Int() (int64, bool) {
	i, err := strconv.ParseInt(string(n), 10, 64)
	return i, err == nil
}

// Float returns the nearest float, ±Inf if the literal is out of range.
func (n Number) Float() float64 {
	f, _ := strconv.ParseFloat(string(n), 64)
	return f
}

// Pattern compiles a regular expression at its first use, because compiling all
// expressions takes more time than parsing a record.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// isNumber reports whether s is a JSON number.
func isNumber(s string) bool {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	return s != "" && (s[0] == '-' || isDigit(s[0])) && isDigit(s[len(s)-1]) && json.Valid([]byte(s))
}
