package document

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// DecodeTolerant accepts duplicate keys and several documents with a notice, and rejects
// other errors.
func TestDecodeTolerant(t *testing.T) {
	for _, c := range []struct{ text, want, told, strict string }{
		{"a: 1\nb: 2\na: 3\n", `{"a":3,"b":2}`, `3:1 key "a" is a duplicate: the last one counts`, `line 3, column 1: key "a" is a duplicate`},
		{`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`, `1:14 key "a" is a duplicate: the last one counts`, `line 1, column 14: key "a" is a duplicate`},
		{"x: {a: 1, a: [2]}\n", `{"x":{"a":[2]}}`, `1:11 key "a" is a duplicate: the last one counts`, `line 1, column 11: key "a" is a duplicate`},
		{"a: 1\n---\nb: 2\n", `{"a":1}`, "1:1 one of several documents: the others are kept but not read", "line 2, column 1: a second document begins here, want one"},
		{"- 1\n---\nb: 2\n---\nc: 3\n", `{"b":2}`, "3:1 one of several documents: the others are kept but not read", "line 2, column 1: a second document begins here, want one"},
		{"a: 1\n---\nb: [\n", "", "line 4, column 1: did not find expected node content", "line 4, column 1: did not find expected node content"},
		{"- 1\n---\n- 2\n", "", "line 3, column 1: want a mapping, got a list", "line 2, column 1: a second document begins here, want one"},
		{"a: !mine 1\n", "", "line 1, column 4: tag !mine is not supported", "line 1, column 4: tag !mine is not supported"},
		{"a: 1\n", `{"a":1}`, "", ""},
	} {
		var told []string
		m, err := DecodeTolerant([]byte(c.text), DefaultLimits, func(line, column int, msg string) {
			told = append(told, fmt.Sprintf("%d:%d %s", line, column, msg))
		})
		if c.want == "" {
			require.EqualError(t, err, c.told, c.text)
		} else {
			require.NoError(t, err, c.text)
			data, err := m.MarshalJSON()
			require.NoError(t, err)
			assert.Equal(t, c.want, string(data), c.text)
			assert.Equal(t, c.told, strings.Join(told, "\n"), c.text)
		}
		if _, err = DecodeDocument([]byte(c.text), DefaultLimits); c.strict != "" {
			require.EqualError(t, err, c.strict, c.text)
		} else {
			require.NoError(t, err, c.text)
		}
	}
}

func TestPosition(t *testing.T) {
	for _, c := range []struct {
		name, text, path string
		line, column     int
	}{
		{"canonical", "a: 1\nb:\n  c: 2\n", "b.c", 3, 6},
		{"yaml", "a: 1\nb: {c: 2}\n", "b.c", 2, 8},
		{"json", "{\n  \"a\": [1, {\"b\": true}]\n}\n", "a[1].b", 2, 18},
		{"not there", "{\n  \"a\": {\"b\": true}\n}\n", "a.x", 2, 8},
		{"nothing there", "{\n  \"a\": 1\n}\n", "x", 1, 1},
		{"no document", "{", "x", 0, 0},
		{"no path", "{}", "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			line, column := Position([]byte(c.text), c.path)
			assert.Equal(t, []int{c.line, c.column}, []int{line, column})
		})
	}
	assert.Equal(t, `a."b.c"[2]`, PathOf(PathOf("a", "b.c"), 2))
}
