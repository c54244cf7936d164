package output

import (
	"encoding/json"
	"reflect"
	"strconv"
	"time"
)

var (
	timeType      = reflect.TypeFor[time.Time]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
)

// field describes the encoding of a struct field.
type field struct {
	index []int
	name  string // quoted, with colon
	null  bool   // "" is encoded as null
	form  form
}

// form is the encoding of a type's values.
type form int

const (
	asOther form = iota // encoded by encoding/json
	asString
	asBool
	asInt
	asTime
	asObject
	asList
	asAny // depends on the interface's dynamic type
)

func formOf(t reflect.Type) form {
	switch {
	case t == timeType:
		return asTime
	case t.Implements(marshalerType):
		return asOther
	}
	switch t.Kind() {
	case reflect.String:
		return asString
	case reflect.Bool:
		return asBool
	case reflect.Int, reflect.Int64:
		return asInt
	case reflect.Struct:
		return asObject
	case reflect.Slice:
		return asList
	case reflect.Interface:
		return asAny
	}
	return asOther
}

// plan returns the fields of a struct type, with fields of embedded structs at their
// position.
func (e *encoder) plan(t reflect.Type) []field {
	if p, ok := e.plans[t]; ok {
		return p
	}
	var p []field
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("json")
		if f.Anonymous || name == "" {
			continue
		}
		p = append(p, field{f.Index, strconv.Quote(name) + ":", f.Tag.Get("empty") == "null", formOf(f.Type)})
	}
	e.plans[t] = p
	return p
}
