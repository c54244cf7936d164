package checkpoint

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Load sets the fields of a struct from a mapping, and Store sets a mapping from the fields. The
// tag record of a field has its key, and options after it:
//
//	path  a path or a list of paths, in the quotes of QuotePath in the mapping
//	keep  a zero value is stored; without this option its key is deleted
//
// Fields without the tag are left alone. A missing value, a value of another kind and a negative
// number read as zero.
func Load(m *Map, to any) { load(m, reflect.ValueOf(to).Elem()) }

// Store is described at Load. Other keys of the mapping stay.
func Store(m *Map, from any) { store(m, reflect.ValueOf(from)) }

// A binding is a field of a struct with a key.
type binding struct {
	at           int
	key          string // "" for an embedded struct
	isPath, keep bool
}

var bindings sync.Map // by type

func bindingsOf(t reflect.Type) []binding {
	if known, ok := bindings.Load(t); ok {
		return known.([]binding)
	}
	var list []binding
	for n := range t.NumField() {
		f := t.Field(n)
		options := strings.Split(f.Tag.Get("record"), ",")
		if options[0] != "" || f.Anonymous {
			list = append(list, binding{n, options[0], slices.Contains(options, "path"), slices.Contains(options, "keep")})
		}
	}
	bindings.Store(t, list)
	return list
}

func load(m *Map, to reflect.Value) {
	for _, b := range bindingsOf(to.Type()) {
		plain := func(s string) string { return s }
		if b.isPath {
			plain = Unquoted
		}
		switch f := to.Field(b.at); f.Kind() {
		case reflect.Struct:
			load(m, f)
		case reflect.String:
			f.SetString(plain(m.Text(b.key)))
		case reflect.Int, reflect.Int64:
			f.SetInt(max(m.Int(b.key), 0))
		case reflect.Bool:
			v, _ := m.Get(b.key)
			f.SetBool(v == true)
		case reflect.Map:
			if of := m.Sub(b.key); of.Len() > 0 {
				numbers := map[string]int{}
				for name := range of.All() {
					numbers[name] = int(max(of.Int(name), 0))
				}
				f.Set(reflect.ValueOf(numbers))
			}
		case reflect.Slice:
			if f.Type().Elem().Kind() == reflect.Struct {
				for _, of := range m.Maps(b.key) {
					e := reflect.New(f.Type().Elem()).Elem()
					load(of, e)
					f.Set(reflect.Append(f, e))
				}
				continue
			}
			for _, s := range m.Texts(b.key) {
				f.Set(reflect.Append(f, reflect.ValueOf(plain(s)).Convert(f.Type().Elem())))
			}
		}
	}
}

func store(m *Map, from reflect.Value) {
	for _, b := range bindingsOf(from.Type()) {
		f := from.Field(b.at)
		if b.key == "" {
			store(m, f)
			continue
		}
		var v any
		isZero := f.IsZero()
		switch f.Kind() {
		case reflect.String:
			if v = f.String(); b.isPath {
				v = QuotePath(f.String())
			}
		case reflect.Int, reflect.Int64:
			v = f.Int()
		case reflect.Bool:
			v = f.Bool()
		case reflect.Map:
			numbers := f.Interface().(map[string]int)
			of := NewMap()
			for _, name := range slices.Sorted(maps.Keys(numbers)) {
				if numbers[name] > 0 {
					of.Set(name, numbers[name])
				}
			}
			v, isZero = of, of.Len() == 0
		case reflect.Slice:
			list := make([]any, f.Len())
			for k := range list {
				switch e := f.Index(k); {
				case e.Kind() == reflect.Struct:
					of := NewMap()
					store(of, e)
					list[k] = of
				case b.isPath:
					list[k] = QuotePath(e.String())
				default:
					list[k] = e.String()
				}
			}
			v, isZero = list, len(list) == 0
		}
		if isZero && !b.keep {
			m.Delete(b.key)
		} else {
			m.Set(b.key, v)
		}
	}
}
