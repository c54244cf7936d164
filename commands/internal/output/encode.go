package output

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"time"
)

// timeLayout is the time format in records.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// encoder encodes this package's structs as JSON. encoding/json cannot encode a nil list
// as [] and an empty name as null; the encoder delegates other values to encoding/json.
type encoder struct {
	buf   []byte
	plans map[reflect.Type][]field
}

// object encodes a struct after the prefix begin, which contains the opening brace.
func (e *encoder) object(begin string, v reflect.Value) error {
	e.buf = append(e.buf, begin...)
	for i, f := range e.plan(v.Type()) {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(e.buf, f.name...)
		value := v.FieldByIndex(f.index)
		if f.null && value.Len() == 0 {
			e.buf = append(e.buf, "null"...)
			continue
		}
		if err := e.value(f.form, value); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	return nil
}

func (e *encoder) value(f form, v reflect.Value) error {
	switch f {
	case asString:
		e.buf = appendQuoted(e.buf, v.String())
	case asBool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case asInt:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case asTime:
		e.time(v.Interface().(time.Time))
	case asObject:
		return e.object("{", v)
	case asList:
		return e.list(v)
	case asAny:
		if v.IsNil() {
			e.buf = append(e.buf, "null"...)
			return nil
		}
		return e.value(formOf(v.Elem().Type()), v.Elem())
	default:
		return e.other(v.Interface())
	}
	return nil
}

func (e *encoder) list(v reflect.Value) error {
	f := formOf(v.Type().Elem())
	e.buf = append(e.buf, '[')
	for i := range v.Len() {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if err := e.value(f, v.Index(i)); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, ']')
	return nil
}

// time encodes a time, or null for zero time and years outside RFC 3339.
func (e *encoder) time(t time.Time) {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		e.buf = append(e.buf, "null"...)
		return
	}
	e.buf = append(e.buf, '"')
	e.buf = t.AppendFormat(e.buf, timeLayout)
	e.buf = append(e.buf, '"')
}

// other encodes a value with encoding/json.
func (e *encoder) other(x any) error {
	var b bytes.Buffer
	j := json.NewEncoder(&b)
	j.SetEscapeHTML(false)
	if err := j.Encode(x); err != nil {
		return err
	}
	e.buf = append(e.buf, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	return nil
}
