package checkpoint

import (
	"fmt"
	"testing"

	"git-checkpoint/gitstore/checkpoint/document"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func doc(t *testing.T, text string) *Map {
	t.Helper()
	m, err := DecodeDocument([]byte(text), DefaultLimits)
	require.NoError(t, err, text)
	return m
}

func yamlText(t *testing.T, m *Map) string {
	t.Helper()
	b, err := document.Emit(m, 0)
	require.NoError(t, err)
	return string(b)
}

func TestMapKeepsOrder(t *testing.T) {
	for _, n := range []int{3, 100} {
		m := NewMap()
		var want []string
		for k := range n {
			key := fmt.Sprint("k", k)
			m.Set(key, k)
			want = append(want, key)
		}
		m.Set("k1", "again")
		require.Equal(t, want, m.Keys())
		m.Delete("k0")
		m.Delete("absent")
		require.Equal(t, want[1:], m.Keys())
		v, ok := m.Get("k1")
		require.True(t, ok)
		assert.Equal(t, "again", v)
		_, ok = m.Get("k0")
		assert.False(t, ok)
		v, _ = m.Get(want[n-1])
		assert.Equal(t, Int(int64(n-1)), v)
	}
}

func TestLookup(t *testing.T) {
	m := doc(t, `{"a": {"b.c": 1, "0": "zero", "q\"\\": 2}, "l": [{"path": "x"}, [5]]}`)
	tests := []struct {
		path string
		want any
	}{
		{`a."b.c"`, Number("1")},
		{"a.0", "zero"},
		{`a."q\"\\"`, Number("2")},
		{"l[0].path", "x"},
		{"l.0.path", "x"},
		{"l[1][0]", Number("5")},
		{"l.1.0", Number("5")},
	}
	for _, tt := range tests {
		got, ok := m.Lookup(tt.path)
		assert.True(t, ok, tt.path)
		assert.Equal(t, tt.want, got, tt.path)
	}
	for _, path := range []string{"", ".", "a.", ".a", "a..b", "a[0]", "l[2]", "l[-1]", "l[01]", "l[", "l[x]", "b.c", `a."b.c`, `"a"x`, "l.x", "a.b.c.d"} {
		_, ok := m.Lookup(path)
		assert.False(t, ok, path)
	}
}

func TestAssign(t *testing.T) {
	tests := []struct {
		name, in, path string
		v              any
		want           string
	}{
		{"new key", "a: 1\n", "b", "x", "a: 1\nb: x\n"},
		{"makes mappings", "a: 1\n", "b.c.d", true, "a: 1\nb:\n  c:\n    d: true\n"},
		{"through null", "a: null\n", "a.b", 1, "a:\n  b: 1\n"},
		{"deletes", "a: 1\nb: 2\n", "a", nil, "b: 2\n"},
		{"deletes below", "a:\n  b: 1\n  c: 2\n", "a.b", nil, "a:\n  c: 2\n"},
		{"deletes what is absent", "a: 1\n", "b.c", nil, "a: 1\n"},
		{"element", "l:\n  - 1\n  - 2\n", "l[1]", 3, "l:\n  - 1\n  - 3\n"},
		{"appends", "l:\n  - 1\n", "l[1]", 2, "l:\n  - 1\n  - 2\n"},
		{"appends a mapping", "l:\n  - 1\n", "l.1.a", 2, "l:\n  - 1\n  - a: 2\n"},
		{"deletes an element", "l:\n  - 1\n  - 2\n", "l[0]", nil, "l:\n  - 2\n"},
		{"new list", "{}\n", "l[0]", "x", "l:\n  - x\n"},
		{"quoted key", "{}\n", `a."b.c"`, "x", "a:\n  b.c: x\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := doc(t, tt.in)
			require.NoError(t, m.Assign(tt.path, tt.v))
			assert.Equal(t, tt.want, yamlText(t, m))
		})
	}
}

func TestAssignRefuses(t *testing.T) {
	for _, path := range []string{"", "a..b", "[0]", "a.b", "l[5]", "l.x", "m[0]", "l[0].x", "l[1][3]"} {
		m := doc(t, "a: text\nl:\n  - 1\nm:\n  k: 1\n")
		assert.Error(t, m.Assign(path, "v"), path)
		assert.Equal(t, "a: text\nl:\n  - 1\nm:\n  k: 1\n", yamlText(t, m), path)
	}
}

func TestParseValue(t *testing.T) {
	tests := []struct {
		in   string
		want any
	}{
		{"3", Number("3")},
		{"1e3", Number("1e3")},
		{"true", true},
		{"null", nil},
		{`"x"`, "x"},
		{`"\ud83d\ude00\/"`, "\U0001f600/"},
		{"[1, \"a\"]", []any{Number("1"), "a"}},
		{"{}", NewMap()},
		{"", ""},
		{"text", "text"},
		{"True", "True"},
		{"007", "007"},
		{"1.", "1."},
		{"{a: 1}", "{a: 1}"},
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{`"\ud83d"`, `"\ud83d"`},
		{`"open`, `"open`},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, ParseValue(tt.in), tt.in)
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a", `a."b.c"`, "l[0].path", "a.0", `""`, `"\\"`, "[0]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		m := NewMap()
		if m.Assign(path, "v") != nil {
			return
		}
		v, ok := m.Lookup(path)
		require.True(t, ok, "%q", path)
		require.Equal(t, "v", v)
		steps, err := document.ParsePath(path)
		require.NoError(t, err)
		again, err := document.ParsePath(pathText(steps))
		require.NoError(t, err)
		require.Equal(t, steps, again)
	})
}

func FuzzQuotePath(f *testing.F) {
	for _, s := range append(nasty, "caf\xe9", "\"x", "a\x00b", "\xff\xfe") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		back, err := UnquotePath(QuotePath(s))
		if err == nil {
			require.Equal(t, s, back)
		} else {
			require.Contains(t, s, "\x00")
		}
		if p, err := UnquotePath(s); err == nil {
			require.Equal(t, s, QuotePath(p))
		}
	})
}

func TestQuotePath(t *testing.T) {
	for path, want := range map[string]string{
		"src/a.go":  "src/a.go",
		"a\nb":      "a\nb",
		"café":      "café",
		"caf\xe9":   `"caf\351"`,
		`"q"`:       `"\"q\""`,
		"\xff\t\\ ": `"\377\t\\ "`,
	} {
		assert.Equal(t, want, QuotePath(path))
	}
	for _, s := range []string{`"`, `"a"`, `"\351`, `"\x41"`, `"\000"`, `"\9"`, `"caf\351"x`, "\xe9", `"\400"`} {
		_, err := UnquotePath(s)
		assert.Error(t, err, s)
	}
}

func TestMapRename(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		want     []string
	}{
		"in its place":     {"b", "x", []string{"a", "x", "c"}},
		"instead of one":   {"b", "a", []string{"a", "c"}},
		"of a later one":   {"b", "c", []string{"a", "c"}},
		"that is not here": {"y", "a", []string{"a", "b", "c"}},
		"to itself":        {"b", "b", []string{"a", "b", "c"}},
	} {
		m := NewMap()
		for n, key := range []string{"a", "b", "c"} {
			m.Set(key, n)
		}
		m.Rename(c.from, c.to)
		assert.Equal(t, c.want, m.Keys(), name)
		if v, _ := m.Get(c.to); c.from == "b" {
			assert.Equal(t, Number("1"), v, name)
		}
	}
}
