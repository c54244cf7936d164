package diff

import (
	"fmt"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func doc(t testing.TB, text string) *checkpoint.Map {
	t.Helper()
	m, err := checkpoint.DecodeDocument([]byte(text), checkpoint.DefaultLimits)
	require.NoError(t, err, "%s", text)
	return m
}

func told(changes []FieldChange) []string {
	lines := []string{}
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%s %s %s -> %s", c.Op, c.Path, content(c.Old), content(c.New)))
	}
	return lines
}

func TestRecords(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		want           []string
	}{
		{"the same", `{"a":{"b":[1,{"c":2}]}}`, `{"a":{"b":[1,{"c":2}]}}`, []string{}},
		{"another order of keys", `{"a":1,"b":2}`, `{"b":2,"a":1}`, []string{}},
		{"null is absent", `{"a":null,"b":null}`, `{"a":null,"c":null}`, []string{}},
		{"values", `{"a":{"x":1,"y":2},"b":true}`, `{"a":{"x":1,"y":3},"b":"true"}`, []string{`changed a.y 2 -> 3`, `changed b true -> "true"`}},
		{"keys", `{"a":{"x":1}}`, `{"b":{"x":1}}`, []string{`removed a {"x":1} -> null`, `added b null -> {"x":1}`}},
		{"odd keys", `{"a.b":{"c[0]":1}}`, `{"a.b":{"c[0]":2}}`, []string{`changed "a.b"."c[0]" 1 -> 2`}},
		{"kinds", `{"a":[1],"b":{"c":1}}`, `{"a":{"c":1},"b":[1]}`, []string{`changed a [1] -> {"c":1}`, `changed b {"c":1} -> [1]`}},
		{"a label", `{"l":["bug","state:planning","x"]}`, `{"l":["bug","state:ready","x"]}`, []string{`changed l[1] "state:planning" -> "state:ready"`}},
		{"appended", `{"l":["1","2"]}`, `{"l":["1","2","3"]}`, []string{`added l[2] null -> "3"`}},
		{"taken out", `{"l":["1","2","3"]}`, `{"l":["1","3"]}`, []string{`removed l[1] "2" -> null`}},
		{"moved", `{"l":["a","b","c","d"]}`, `{"l":["d","a","b","c"]}`, []string{`moved l[0] 3 -> 0`}},
		{"twice", `{"l":["a","a","b"]}`, `{"l":["a","b"]}`, []string{`removed l[1] "a" -> null`}},
		{"null in a list", `{"l":[null,1]}`, `{"l":[2,1]}`, []string{`removed l[0] null -> null`, `added l[0] null -> 2`}},
		{
			"by key", `{"f":[{"path":"a","s":1},{"path":"b","s":1},{"path":"c","s":1}]}`, `{"f":[{"path":"c","s":1},{"path":"a","s":2},{"path":"d","s":1}]}`,
			[]string{`removed f[1] {"path":"b","s":1} -> null`, `moved f[0] 2 -> 0`, `changed f[1].s 1 -> 2`, `added f[2] null -> {"path":"d","s":1}`},
		},
		{
			"moved and changed", `{"f":[{"id":1,"s":1},{"id":2,"s":1}]}`, `{"f":[{"id":2,"s":9},{"id":1,"s":1}]}`,
			[]string{`moved f[0] 1 -> 0`, `changed f[0].s 1 -> 9`},
		},
		{
			"a key that two have is none", `{"f":[{"agent":"x","s":1},{"agent":"x","s":2}]}`, `{"f":[{"agent":"x","s":1},{"agent":"x","s":3}]}`,
			[]string{`changed f[1].s 2 -> 3`},
		},
		{"without a key", `{"f":[{"s":1},{"s":2},{"s":3}]}`, `{"f":[{"s":1},{"s":3}]}`, []string{`removed f[1] {"s":2} -> null`}},
		{"lists in lists", `{"f":[[1,2],[3]]}`, `{"f":[[1,2],[3,4]]}`, []string{`added f[1][1] null -> 4`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, told(Records(doc(t, c.from), doc(t, c.to))))
		})
	}
	assert.Empty(t, Records(nil, nil))
	assert.Equal(t, []string{`added a null -> 1`}, told(Records(nil, doc(t, `{"a":1}`))))
}

// Names show the key of a list element.
func TestNameUsesElementKey(t *testing.T) {
	changes := Records(doc(t, `{"f":[{"path":"src/a.go","s":{"t":1}}]}`), doc(t, `{"f":[{"path":"b"},{"path":"src/a.go","s":{"t":2}}]}`))
	require.Len(t, changes, 2)
	assert.Equal(t, "f[b]", changes[0].Name)
	assert.Equal(t, "f[src/a.go].s.t", changes[1].Name)
	assert.Equal(t, "f[1].s.t", changes[1].Path)
	changes = Records(doc(t, `{"f":[{"id":7,"s":1}]}`), doc(t, `{"f":[{"id":7,"s":2}]}`))
	require.Len(t, changes, 1)
	assert.Equal(t, "f[id=7].s", changes[0].Name)
}

// Every path leads to its value, and only equal documents have no changes.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"id":"x"}]}`, `{"a":[{"id":"x"},2,1,null]}`, `{"a.b":{"":[[]]}}`, `{"a":null}`, `{"l":["a","b","a"]}`} {
		f.Add(s, `{"a":[2,1,{"id":"y"}],"b":{}}`)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		from, err := checkpoint.DecodeDocument([]byte(a), checkpoint.DefaultLimits)
		to, err2 := checkpoint.DecodeDocument([]byte(b), checkpoint.DefaultLimits)
		if err != nil || err2 != nil {
			return
		}
		require.Empty(t, Records(from, from))
		changes := Records(from, to)
		for _, c := range changes {
			switch c.Op {
			case Removed:
				leads(t, from, c.Path, c.Old)
				require.Nil(t, c.New)
			case Moved:
				_, ok := to.Lookup(c.Path)
				require.True(t, ok, c.Path)
				require.NotEqual(t, c.Old, c.New)
			default:
				leads(t, to, c.Path, c.New)
			}
		}
		require.Equal(t, len(changes) == 0, len(Records(to, from)) == 0)
	})
}

func leads(t *testing.T, m *checkpoint.Map, path string, want any) {
	t.Helper()
	got, ok := m.Lookup(path)
	require.True(t, ok, path)
	require.True(t, checkpoint.Equal(want, got), path)
}
