package checkpoint

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Scalars follow the YAML core schema with JSON numbers, never YAML 1.1.
func TestDecodeDocumentScalars(t *testing.T) {
	tests := []struct {
		in   string
		want any
	}{
		{"a: 42", Number("42")},
		{"a: -1.5e3", Number("-1.5e3")},
		{"a: 123456789012345678901234567890", Number("123456789012345678901234567890")},
		{"a: 1.0", Number("1.0")},
		{"a: 0755", "0755"},
		{"a: 0x1f", "0x1f"},
		{"a: 1_000", "1_000"},
		{"a: .inf", ".inf"},
		{"a: no", "no"},
		{"a: on", "on"},
		{"a: NO-GO", "NO-GO"},
		{"a: 2025-01-14", "2025-01-14"},
		{"a: 12:30", "12:30"},
		{"a: True", true},
		{"a: ~", nil},
		{"a:", nil},
		{"a: ''", ""},
		{"a: '42'", "42"},
		{"a: !!str 42", "42"},
		{"a: !!int \"42\"", Number("42")},
		{"a: \"x\\ty\"", "x\ty"},
		{"a: |\n  x\n  y\n", "x\ny\n"},
		{"a: >\n  x\n  y\n", "x y\n"},
		{"a: &x 1\nb: *x", Number("1")},
		{"\ufeffa: 1", Number("1")},
		{"a: 1\r\nb: 2\r\n", Number("1")},
		{"---\na: 1\n...\n", Number("1")},
		{"# note\na: 1 # one", Number("1")},
		{"{a: 1}", Number("1")},
		{`{"a": 1}`, Number("1")},
		{" \n{\"a\":\"\\u00e9\\ud83d\\ude00\"}", "é\U0001f600"},
		{"\ufeff{\"a\":1}", Number("1")},
		{`{"a":"\\ud800 \ufffd"}`, "\\ud800 \ufffd"},
		{"a: \"<<\"", "<<"},
		{"\"<<\": 1\na: 2", Number("2")},
	}
	for _, tt := range tests {
		m, err := DecodeDocument([]byte(tt.in), Limits{})
		require.NoError(t, err, tt.in)
		got, ok := m.Get("a")
		assert.True(t, ok, tt.in)
		assert.Equal(t, tt.want, got, tt.in)
	}
}

func TestKeysAreText(t *testing.T) {
	assert.Equal(t, []string{"1", "true", "~", "null"}, doc(t, "1: a\ntrue: b\n~: c\nnull: d\n").Keys())
}

// Invalid documents are rejected with the position of the error.
func TestSyntaxErrors(t *testing.T) {
	tests := []struct {
		name, in     string
		line, column int
		msg          string
	}{
		{"empty", "", 1, 1, "empty"},
		{"blank", " \n\t\n", 1, 1, "empty"},
		{"comment alone", "# x\n", 1, 1, "empty"},
		{"null", "null\n", 1, 1, "want a mapping, got null"},
		{"text", "checkpoint-002.json", 1, 1, "want a mapping, got text"},
		{"list", "- a\n", 1, 1, "want a mapping, got a list"},
		{"JSON list", "[1]", 1, 1, "want a mapping, got a list"},
		{"second document", "a: 1\n---\nb: 2\n", 2, 1, "second document"},
		{"second JSON", "{\"a\":1}\n{}", 2, 1, "after the end"},
		{"duplicate key", "a:\n  b: 1\n  c: 2\n  b: 3\n", 4, 3, `key "b" is a duplicate`},
		{"duplicate JSON key", "{\"a\":1,\n \"a\":2}", 2, 2, `key "a" is a duplicate`},
		{"duplicate by kind", "1: a\n\"1\": b\n", 2, 1, `key "1" is a duplicate`},
		{"merge key", "a: &a {x: 1}\nb:\n  <<: *a\n", 3, 3, "merge keys"},
		{"NUL", "a: 1\nb: é\x00\n", 2, 5, "NUL"},
		{"NUL in YAML", "a: 1\nb: \"x\\0\"\n", 2, 4, "NUL"},
		{"NUL in JSON", "{\"a\":\"x\\u0000\"}", 1, 6, "NUL"},
		{"not UTF-8", "a: 1\nb: é\xff\n", 2, 5, "byte 0xff at offset 10"},
		{"control character", "a: x\x01\n", 1, 5, "U+0001"},
		{"unknown anchor", "a: 1\nb: *x\n", 2, 4, "unknown anchor"},
		{"own anchor", "a: &x\n  - *x\n", 2, 5, "contains itself"},
		{"tag", "a: !!python/object:os.system x\n", 1, 4, "tag"},
		{"own tag", "a: !mine x\n", 1, 4, "tag"},
		{"binary", "a: !!binary aGk=\n", 1, 4, "tag"},
		{"tag that lies", "a: !!int x\n", 1, 4, "not what its tag"},
		{"set", "a: !!set {x}\n", 1, 4, "tag"},
		{"key that is a list", "? [a]\n: 1\n", 1, 3, "scalar key"},
		{"open bracket", "a: 1\nb: [1,\n", 3, 1, ""},
		{"bad indentation", "a: 1\n b: 2\n", 2, 3, "mapping values"},
		{"tab", "a:\n\tb: 1\n", 2, 1, "cannot start any token"},
		{"open quote", "a: 1\nb: \"x\n", 3, 1, ""},
		{"truncated JSON", "{\n  \"a\": ", 2, 8, "ends in the middle"},
		{"shell's JSON", "{\"a\": \n}", 2, 1, "looking for beginning of value"},
		{"lone surrogate", `{"a": "\ud800"}`, 1, 7, "half a surrogate pair"},
		{"lone surrogate behind a backslash and a pair", `{"a": "\\\ud83d\ude00\udfff"}`, 1, 7, "half a surrogate pair"},
		{"JSON comma", `{"a": 1,}`, 1, 9, "key string"},
		{"number", `{"a": 01}`, 1, 8, "invalid character '1'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := DecodeDocument([]byte(tt.in), Limits{})
			assert.Nil(t, m)
			var se *SyntaxError
			require.ErrorAs(t, err, &se)
			assert.Contains(t, se.Msg, tt.msg)
			assert.Equal(t, fmt.Sprint(tt.line, ":", tt.column), fmt.Sprint(se.Line, ":", se.Column), se.Error())
		})
	}
}

// Limits apply to all formats and to aliases.
func TestLimits(t *testing.T) {
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	tests := []struct {
		name, in string
		l        Limits
	}{
		{"bytes", "a: 12345", Limits{Bytes: 7}},
		{"bytes of free YAML", "# x\na: " + strings.Repeat("x", document.MaxYAMLBytes), Limits{}},
		{"depth, YAML", "a: " + deep, Limits{}},
		{"depth, JSON", `{"a": ` + deep + "}", Limits{}},
		{"depth, canonical", "a:\n  b:\n    c: 1\n", Limits{Depth: 2}},
		{"nodes, YAML", "a: [1,2,3]", Limits{Nodes: 4}},
		{"nodes, JSON", `{"a": [1,2,3]}`, Limits{Nodes: 4}},
		{"nodes, canonical", "a:\n  - 1\n  - 2\n  - 3\n", Limits{Nodes: 4}},
		{"nodes, cheaply", "a: [" + strings.Repeat("1,", 600_000) + "]", Limits{}},
		{"aliases", "a: &x 1\nb: [" + strings.Repeat("*x,", 101) + "]", Limits{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodeDocument([]byte(tt.in), tt.l)
			var se *SyntaxError
			require.ErrorAs(t, err, &se)
			assert.Positive(t, se.Line)
			assert.Positive(t, se.Column)
		})
	}
	_, err := DecodeDocument([]byte("a:\n  b:\n    c: 1\n"), Limits{Depth: 3})
	require.NoError(t, err)
	_, err = DecodeDocument([]byte("a: &x 1\nb: ["+strings.Repeat("*x,", 100)+"]"), Limits{})
	require.NoError(t, err)
}

// The work for hostile texts is linear: for a text of twice the size, Decode allocates at most
// about twice as much. Quadratic work without allocations would take hours for these sizes.
func TestDecodeOfHostileTextsIsLinear(t *testing.T) {
	laughs := func(levels int) string {
		text := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
		for k := 1; k < levels; k++ {
			text += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", k, k, strings.Repeat(fmt.Sprintf("*a%d,", k-1), 9), k-1)
		}
		return text
	}
	directives := func(n int) string {
		var text strings.Builder
		for k := range n {
			fmt.Fprintf(&text, "%%TAG !e%d! t\n", k)
		}
		return text.String() + "---\na: 1\n"
	}
	repeat := func(before, unit, after string) func(int) string {
		return func(n int) string { return before + strings.Repeat(unit, n) + after }
	}
	const mb = 1 << 20
	for name, in := range map[string]struct {
		size int // of the larger text, in units
		text func(size int) string
	}{
		"laughs":         {10, laughs},
		"directives":     {mb / 8, directives},
		"open lists":     {mb, repeat("", "[", "")},
		"open mappings":  {mb, repeat("", "{", "")},
		"keys":           {mb / 2, repeat("", "? ", "")},
		"dashes":         {mb / 2, repeat("", "- ", "")},
		"comments":       {mb / 4, repeat("", "#\n", "a: 1")},
		"long comments":  {mb / 12, repeat("a:\n", "  # x\n", "  b: 1")},
		"colons":         {mb / 3, repeat("", "a: ", "")},
		"quotes":         {mb, repeat("", "'", "")},
		"anchors":        {mb / 3, repeat("", "&a ", "")},
		"tags":           {mb / 3, repeat("", "!a ", "")},
		"blank lines":    {mb / 3, repeat("", "\n", "a: 1")},
		"block":          {mb / 4, repeat("a: |\n", " \n", "")},
		"digits":         {4*mb - 10, repeat("a: ", "1", " ")},
		"JSON depth":     {mb / 5, repeat("", `{"a":`, "")},
		"JSON keys":      {mb / 5, repeat(`{"a":{"`, `":1,"`, "")},
		"escapes":        {mb, repeat(`a: "`, `\x`, "")},
		"canonical list": {5 * mb, repeat("a:\n", "  - a\n", "")},
		"type error":     {20 * mb, repeat("version: \"1.0\"\nissue_snapshot:\n  body: ", "x", "\nclock: true\n")},
	} {
		t.Run(name, func(t *testing.T) {
			decode := func(size int) uint64 {
				data := []byte(in.text(size))
				return gittest.AllocatedBy(t, func() { _, _ = Decode(data) })
			}
			small, large := decode(in.size/2), decode(in.size)
			t.Log(small, large)
			assert.Less(t, large, 3*small+mb)
		})
	}
}

func TestDecodeKinds(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{
			"integer", "version: \"1.0\"\nworkflow_state:\n  phase_attempt: three\n",
			"line 3, column 18: workflow_state.phase_attempt: want an integer, got text",
		},
		{
			"free YAML", "version: 1\nworkflow_state: {phase_attempt: 1.5}\n",
			"line 2, column 33: workflow_state.phase_attempt: want an integer, got the number 1.5",
		},
		{
			"JSON", "{\"workflow_state\":\n {\"phase_attempt\": [3]}}",
			"line 2, column 20: workflow_state.phase_attempt: want an integer, got a list",
		},
		{
			"in a list", "files_modified:\n  - path: a\n  - path: b\n    staged: 1\n",
			"line 4, column 13: files_modified[1].staged: want true or false, got the number 1",
		},
		{
			"list element", "issue_snapshot:\n  labels:\n    - a\n    - b: 1\n",
			"line 4, column 7: issue_snapshot.labels[1]: want text, got a mapping",
		},
		{
			"null element", "recovery_info:\n  warnings: [null]\n",
			"line 2, column 14: recovery_info.warnings[0]: want no empty element, got null",
		},
		{
			"section", "issue_snapshot: text\n",
			"line 1, column 17: issue_snapshot: want a mapping, got text",
		},
		{
			"list", "execution_graph:\n  completed_batches:\n    a: 1\n",
			"line 3, column 5: execution_graph.completed_batches: want a list, got a mapping",
		},
		{
			"any key", "execution_graph:\n  node_states:\n    \"a.b\":\n      started_at: true\n",
			"line 4, column 19: execution_graph.node_states.\"a.b\".started_at: want text, got true",
		},
		{
			"through an alias", "agent_outputs:\n  a: &x {b: [1]}\n  c: *x\n",
			"line 2, column 13: agent_outputs.a.b: want a mapping, got a list",
		},
		{
			"outputs", "{\"agent_outputs\":{\"a\":{\"b\":{\"completed_at\":1,\n\"output_location\":false}}}}",
			"line 2, column 19: agent_outputs.a.b.output_location: want text, got false",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode([]byte(tt.in))
			var se *SyntaxError
			require.ErrorAs(t, err, &se)
			assert.Equal(t, tt.want, err.Error())
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"a: 1", "{}", "version: \"1.0\"\n", "- a", "a: &x [1]\nb: *x", "a: |2-\n   x\n\n", "? a\n: b", "{\"a\":[1,{\"b\":null}]}",
		"a:\n  - b: 1\n    c:\n      - - d\n", "a: !!str 1", "a: \"\\u00e9\"", "# c\na:\n# d\n  b: 1\n# e", "\ufeffa: 1", "a: 'it''s'\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Add(read(f, vectors+"full.yaml"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			return
		}
		r.Validate()
		out, err := r.Encode()
		require.NoError(t, err)
		again, err := Decode(out)
		require.NoError(t, err, "%s", out)
		require.True(t, Equal(again.doc, recordSchema().ordered(r.doc)), "%s", out)
		stable, err := again.Encode()
		require.NoError(t, err)
		require.Equal(t, string(out), string(stable))
		d, err := document.DecodeYAML(out, DefaultLimits, nil)
		require.NoError(t, err, "%s", out)
		require.True(t, Equal(d.Root, again.doc), "yaml.v3 reads something else:\n%s", out)
		text, err := r.JSON()
		require.NoError(t, err)
		fromJSON, err := Decode(text)
		require.NoError(t, err, "%s", text)
		require.True(t, Equal(fromJSON.doc, again.doc), "%s", text)
	})
}

func mustEncode(r *Record) []byte {
	data, err := r.Encode()
	if err != nil {
		panic(err)
	}
	return data
}
