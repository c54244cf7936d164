package checkpoint

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint/document"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const vectors = "../../testdata/record/"

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(vectors+name, got, 0o644))
	}
	assert.Equal(t, string(read(t, vectors+name)), string(got))
}

// shuffled returns m with shuffled schema keys at every level. Unknown keys keep their
// order.
func shuffled(m *Map, s *schema, r *rand.Rand) *Map {
	out := NewMap()
	for _, k := range r.Perm(m.Len()) {
		key, v := m.Entries[k].Key, m.Entries[k].Value
		if _, known := s.place[key]; known {
			out.Set(key, shuffledValue(v, s.field(key), r))
		}
	}
	for _, key := range m.Keys() {
		if _, known := s.place[key]; !known {
			v, _ := m.Get(key)
			out.Set(key, shuffledValue(v, s.field(key), r))
		}
	}
	return out
}

func shuffledValue(v any, f field, r *rand.Rand) any {
	switch v := v.(type) {
	case *Map:
		if f.of != nil {
			return shuffled(v, f.of, r)
		}
	case []any:
		out := make([]any, len(v))
		for k := range v {
			out[k] = shuffledValue(v[k], field{of: f.of}, r)
		}
		return out
	}
	return v
}

// Key order is part of the stored form.
func TestKeyOrder(t *testing.T) {
	want := read(t, vectors+"full.yaml")
	rec, err := Decode(want)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(mustEncode(rec)))
	assert.Equal(t, []string{
		"checkpoint_id", "version", "created_at", "trigger", "issue_number", "session_id", "workflow_state",
		"issue_snapshot", "team_state", "execution_graph", "agent_outputs", "acp_state", "knowledge_context",
		"files_modified", "recovery_info", "note", "clock", "snapshot", "workflow", "progress", "tasks", "stage",
		"pipeline", "layout", "x_other", "x_more",
	}, rec.doc.Keys())
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		mixed := &Record{shuffled(rec.doc, recordSchema(), r)}
		before := mixed.Clone()
		assert.Equal(t, string(want), string(mustEncode(mixed)))
		assert.True(t, Equal(mixed.doc, before.doc), "Encode changed the document")
	}
	assert.Empty(t, rec.Validate())
}

// The forms of scalars are part of the stored form. All YAML parsers must agree on this
// vector, so words with a meaning in YAML 1.1 are quoted.
func TestScalarForms(t *testing.T) {
	want := read(t, vectors+"scalars.yaml")
	m, line := document.ParseCanonical(want, DefaultLimits)
	require.Zero(t, line, "not canonical")
	d, err := document.DecodeYAML(want, DefaultLimits, nil)
	require.NoError(t, err)
	assert.True(t, Equal(d.Root, m))
	for key, text := range map[string]string{
		"indented": "  first\nsecond\n", "code": "\tif ok {\n\t\treturn\n\t}\n", "newlines": "a\nb\n\n\n",
		"two_lines": "a\nb", "blank_line": "a\n  \nb\n", "leading_newline": "\na\n", "bidi": "a\u202eb",
	} {
		v, _ := m.Get(key)
		assert.Equal(t, text, v, key)
	}
}

func TestOtherFormsBecomeCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"by-hand.yaml":          "by-hand.golden.yaml",
		"first-generation.json": "first-generation.golden.yaml",
	} {
		r, err := Decode(read(t, vectors+in))
		require.NoError(t, err, in)
		golden(t, want, mustEncode(r))
		assert.True(t, valid(r.Validate()), "%s: %v", in, r.Validate())
	}
}

func TestJSONGolden(t *testing.T) {
	r, err := Decode(read(t, vectors+"full.yaml"))
	require.NoError(t, err)
	text, err := r.JSON()
	require.NoError(t, err)
	golden(t, "full.json", append(text, '\n'))
}

func TestInvalidRecords(t *testing.T) {
	files, err := filepath.Glob(vectors + "invalid/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var b strings.Builder
	for _, name := range files {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		_, err := Decode(read(t, name))
		require.Error(t, err, name)
		var se *SyntaxError
		var ve *VersionError
		assert.True(t, errors.As(err, &se) || errors.As(err, &ve), name)
		fmt.Fprintf(&b, "%s: %v\n", filepath.Base(name), err)
	}
	golden(t, "invalid/errors.golden", []byte(b.String()))
}

// Keys over the limit for simple keys use the '?' form.
func TestLongKeys(t *testing.T) {
	for _, n := range []int{990, 998, 999, 1000, 1001, 1030, 5000} {
		for _, key := range []string{strings.Repeat("k", n), strings.Repeat("é", n/2), strings.Repeat("\u202e", n/6)} {
			m := NewMap()
			m.Set("first", 1)
			m.Set(key, map[string]any{key: "line\nline\n", "list": []any{map[string]any{key: 1, "b": "x\ny"}, []any{map[string]any{key: []any{1}}}}})
			m.Set("last", 1)
			requireRoundTrip(t, m)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	deep := NewMap()
	for range 64 {
		up := NewMap()
		up.Set("a", deep)
		deep = up
	}
	deep.Set("b", 1)
	for name, v := range map[string]any{
		"UTF-8": "\xff", "UTF-8 block": "a\n\xff", "UTF-8 quoted": ": \xff", "NUL": "a\x00", "type": struct{}{},
		"number": Number("0x1"), "depth": deep, "in a list": []any{Number("")},
	} {
		r := New()
		r.Doc().Set("x", v)
		_, err := r.Encode()
		assert.Error(t, err, name)
	}
	r := New()
	r.Doc().Set("bad\xff", 1)
	_, err := r.Encode()
	assert.Error(t, err)
	empty, err := FromDoc(nil).Encode()
	require.NoError(t, err)
	assert.Equal(t, "{}\n", string(empty))
}
