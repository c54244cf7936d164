package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
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

func TestNoLineIsACommandOfARunner(t *testing.T) {
	for in, want := range map[string]string{
		"a\n::error::b\n":               "a\n: :error::b\n",
		" \t\u00a0::error::b":           " \t\u00a0: :error::b",
		"x\r::error::b":                 "x\r: :error::b",
		"::":                            ": :",
		"a::b ::c:: [::1]":              "a::b ::c:: [::1]",
		"x ##[group]y":                  "x ## [group]y",
		"x ##vso[task.setvariable a]b":  "x ##vso [task.setvariable a]b",
		"##VSO[task.setvariable a]b":    "##VSO [task.setvariable a]b",
		"##teamcity[message text='a']":  "##teamcity [message text='a']",
		"section_start:1:a\r\x1b[0Kb":   "section_start :1:a\r\x1b[0Kb",
		"## heading [a](b)\n- [x] c: d": "## heading [a](b)\n- [x] c: d",
	} {
		whole, bytewise := &bytes.Buffer{}, &bytes.Buffer{}
		job := func(name string) string { return map[string]string{"CI": "true"}[name] }
		n, err := ForRunner(whole, job).Write([]byte(in))
		assert.NoError(t, err)
		assert.Equal(t, len(in), n)
		assert.Equal(t, want, whole.String())
		w := ForRunner(bytewise, job)
		for i := range len(in) {
			_, _ = w.Write([]byte{in[i]})
		}
		assert.Equal(t, want, bytewise.String(), "written byte by byte")
	}
	none := &bytes.Buffer{}
	assert.Same(t, none, ForRunner(none, func(string) string { return "" }), "no job")
}

func TestWordsAndRecordsKeepValuesOnARunner(t *testing.T) {
	const text = "it's\n::a::b ##vso[c]"
	var log bytes.Buffer
	w := ForRunner(&log, func(string) string { return "1" })
	assert.Equal(t, `'it'\''s`+"\n:'':a::b ##vso''[c]'", Shell(text))
	_, _ = w.Write([]byte("A=" + Shell(text) + "\n"))
	assert.Equal(t, "A="+Shell(text)+"\n", log.String())
	log.Reset()
	assert.NoError(t, Write(w, Error{Type: "error", Code: 1, Kind: "failure", Message: text}))
	assert.Contains(t, log.String(), `"it's\n::a::b ##vso\u005bc]"`)
}

var update = flag.Bool("update", false, "rewrite the golden files")

func written(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, v))
	return b.String()
}

func TestRecordsMatchGoldenFiles(t *testing.T) {
	all := samples()
	for name, v := range all {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".json")
			got := written(t, v)
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "run with -update")
			assert.Equal(t, string(want), got)
		})
	}
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	assert.Len(t, files, len(all), "a golden file without a sample")
}

// Properties of every record.
func TestRecordsAreOneSafeLine(t *testing.T) {
	for name, v := range samples() {
		t.Run(name, func(t *testing.T) {
			got := written(t, v)
			kind, _, _ := strings.Cut(name, "-")
			assert.True(t, strings.HasPrefix(got, `{"version":1,"type":"`+kind+`",`), got)
			assert.Equal(t, 1, strings.Count(got, "\n"))
			assert.Equal(t, strings.TrimSuffix(got, "\n"), Clean(strings.TrimSuffix(got, "\n")), "safe to show")
			assert.NotContains(t, got, `\u003c`)
			var m map[string]any
			require.NoError(t, json.Unmarshal([]byte(got), &m))
			assert.Equal(t, written(t, reflect.ValueOf(v).Interface()), got)
		})
	}
}

type failing struct{ wrote int }

func (f *failing) Write(p []byte) (int, error) { f.wrote++; return 0, errors.New("full") }

func TestWriteFailsWithoutPartialOutput(t *testing.T) {
	w := &failing{}
	for _, v := range []any{nil, 1, "x", Save{}, (*Save)(nil), struct{ Type int }{1}, Show{Type: "show", Checkpoint: json.RawMessage("{")}, Show{Type: "show", Checkpoint: func() {}}} {
		require.Error(t, Write(w, v))
	}
	assert.Zero(t, w.wrote, "nothing is written of what cannot be encoded")
	require.EqualError(t, Write(w, Scan{Type: "scan"}), "full")
	assert.Equal(t, 1, w.wrote)
}

// Strings decode to the same values as strings from encoding/json.
func FuzzQuoted(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n\t\r\x00\x1f", "\u202e\u2028\u009b\x7f", "\xff\xed\xa0\x80", "\U000e0041\U0001f600"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got struct{ Message string }
		line := written(t, Error{Type: "error", Code: 1, Kind: "failure", Message: s})
		require.NoError(t, json.Unmarshal([]byte(line), &got))
		want, err := json.Marshal(s)
		require.NoError(t, err)
		var plain string
		require.NoError(t, json.Unmarshal(want, &plain))
		require.Equal(t, plain, got.Message)
		require.Equal(t, strings.TrimSuffix(line, "\n"), Clean(strings.TrimSuffix(line, "\n")))
	})
}
