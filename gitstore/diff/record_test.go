package diff

import (
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
