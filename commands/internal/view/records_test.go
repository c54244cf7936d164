package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
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
