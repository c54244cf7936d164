package trees

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 a\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("40000 a\x00aaaaaaaaaaaaaaaaaaaa100644 a.b\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("100644 a"))
	f.Add([]byte("x a\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("\x00 "))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := Parse(data)
		if err != nil {
			return
		}
		again, err := Parse(Encode(entries))
		require.NoError(t, err)
		assert.Equal(t, entries, again) // Encode sorts in place
	})
}
