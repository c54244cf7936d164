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

// field is how one field of a struct is written.
type field struct {
	index []int
	name  string // quoted, with the colon
	null  bool   // "" is null
	form  form
}

// form is how values of a type are written.
type form int

const (
	asOther form = iota // by encoding/json
	asString
	asBool
	asInt
	asTime
	asObject
	asList
	asAny // by what the interface holds
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

// plan lists the fields of a struct, those of embedded ones in their place.
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
