package checkpoint

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint/document"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// nasty lists fragments of texts that are difficult to encode.
var nasty = []string{
	"", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", "a", "b c", "key: value", "- ", "-", "? ", ": ", ":", "#", " #",
	"---", "...", "|", ">", "%", "@", "`", "'", "\"", "\\", "\\n", "{", "}", "[", "]", ",", "&a", "*a", "!!str", "!",
	"<<", "~", "null", "true", "no", "off", "1", "0x1f", "0755", "1e3", "-1.5", ".5", ".inf", "2025-01-14", "12:30:45",
	"\u0085", "\u00a0", "\u2028", "\u2029", "\ufeff", "\u200d", "\u202e", "\u3000", "\ufffd", "\ufffe", "\U0001f600", "\U000e0001", "\x01", "\x7f",
	"é", "ünï", "日本", "Title", "/path/to", ".claude/x", "_", "=", "a:b", "a#b", "\tcode {\n\t\treturn\n\t}\n", "\n  indented\n",
}

// holds returns a document with s in every possible position.
func holds(s string) *Map {
	m := NewMap()
	m.Set("value", s)
	m.Set("key", map[string]any{s: s})
	m.Set("list", []any{s, []any{s, []any{s}}, map[string]any{"a": s, "b": []any{s}}, []any{}, NewMap(), nil})
	if s != "" {
		m.Set("z"+s, s)
	}
	m.Set("last", s)
	return m
}

// requireRoundTrip checks that yaml.v3, the canonical parser and the JSON parser all read
// the original document.
func requireRoundTrip(t *testing.T, m *Map) {
	t.Helper()
	out, err := document.Emit(m, 0)
	require.NoError(t, err)
	d, err := document.DecodeYAML(out, DefaultLimits.OrDefault(), nil)
	require.NoError(t, err, "%s", out)
	require.True(t, Equal(m, d.Root), "yaml.v3 reads something else:\n%s", out)
	c, line := document.ParseCanonical(out, DefaultLimits)
	require.Zero(t, line, "not read as canonical:\n%s", out)
	require.True(t, Equal(m, c), "%s", out)
	text, err := document.AppendJSON(nil, m, 0)
	require.NoError(t, err)
	require.True(t, json.Valid(text), "%s", text)
	d, err = document.DecodeJSON(text, DefaultLimits, nil)
	require.NoError(t, err, "%s", text)
	require.True(t, Equal(m, d.Root), "JSON:\n%s", text)
}

// Two texts that yaml.v3 does not preserve.
func TestTextsThatYAMLv3Loses(t *testing.T) {
	for _, s := range []string{"\nhello\n", "\tif err != nil {\n\t\treturn err\n\t}\n"} {
		requireRoundTrip(t, holds(s))
		data, err := yaml.Marshal(s)
		require.NoError(t, err)
		var back string
		if yaml.Unmarshal(data, &back) == nil {
			assert.NotEqual(t, s, back, "yaml.v3 has learned it: the reason for emitter is gone")
		}
	}
}

func FuzzString(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			_, err := document.Emit(holds(s), 0)
			require.Error(t, err)
			return
		}
		requireRoundTrip(t, holds(s))
	})
}
