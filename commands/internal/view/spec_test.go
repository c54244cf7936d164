package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each record type has a sample, and empty records contain all lists.
func TestEveryStructHasASample(t *testing.T) {
	have := map[string]bool{}
	for _, v := range samples() {
		have[reflect.TypeOf(v).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	records := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if ok && len(s.Fields.List) > 0 && len(s.Fields.List[0].Names) == 1 && s.Fields.List[0].Names[0].Name == "Type" {
				records++
				assert.True(t, have[spec.Name.Name], spec.Name.Name)
			}
			return true
		})
	}
	assert.Greater(t, records, 12)
	for name, v := range samples() {
		empty := reflect.New(reflect.TypeOf(v)).Elem()
		empty.FieldByName("Type").SetString("x")
		for _, f := range reflect.VisibleFields(empty.Type()) {
			if f.Type.Kind() == reflect.Slice {
				assert.Contains(t, written(t, empty.Interface()), `"`+f.Tag.Get("json")+`":[]`, name)
			}
		}
	}
}

// The specification's table lists fields of each type.
func TestRecordsHaveSpecifiedFields(t *testing.T) {
	data, err := os.ReadFile(shared(t, "cli.md"))
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(data), "| type | fields beyond version and type |")
	require.True(t, ok)
	seen := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			continue
		}
		for _, kind := range backquoted(cells[1]) {
			seen++
			v, ok := samples()[kind]
			require.True(t, ok, kind)
			got := written(t, v)
			for _, name := range fieldsOf(kind, cells[2]) {
				assert.Contains(t, got, `"`+name+`":`, kind)
			}
		}
	}
	assert.Equal(t, 25, seen)
}

// fieldsOf returns a type's fields in a table row: "`a`, `b`; `x` adds `c`".
func fieldsOf(kind, cell string) []string {
	var names []string
	for part := range strings.SplitSeq(cell, ";") {
		kinds, added, adds := strings.Cut(part, " add")
		switch {
		case !adds:
			names = append(names, backquoted(part)...)
		case slices.Contains(backquoted(kinds), kind):
			names = append(names, backquoted(added)...)
		}
	}
	return names
}

// backquoted returns the texts in backquotes.
func backquoted(s string) []string {
	var all []string
	for i, part := range strings.Split(s, "`") {
		if i%2 == 1 {
			all = append(all, part)
		}
	}
	return all
}

func shared(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	path := filepath.Join(filepath.Dir(dir), "shared", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return path
}
