package git

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBoundedTextKeepsStartAndEnd checks that short text is kept, and that the size of long
// text is limited for large and for small writes.
func TestBoundedTextKeepsStartAndEnd(t *testing.T) {
	t.Parallel()
	var short boundedText
	for range 3 * maxKept / 10 {
		_, _ = short.Write([]byte("0123456789"))
	}
	assert.Equal(t, strings.Repeat("0123456789", 3*maxKept/10), short.String())
	for _, size := range []int{10, 1000, 50 * maxKept} {
		var long boundedText
		_, _ = long.Write([]byte("first"))
		for range 50 * maxKept / size {
			n, err := long.Write([]byte(strings.Repeat("x", size)))
			assert.NoError(t, err)
			assert.Equal(t, size, n)
			assert.LessOrEqual(t, len(long.tail), 2*maxKept)
		}
		_, _ = long.Write([]byte("last"))
		text := long.String()
		assert.True(t, strings.HasPrefix(text, "firstx") && strings.HasSuffix(text, "xlast"), size)
		assert.LessOrEqual(t, len(text), 3*maxKept+len("\n"), size)
		assert.Equal(t, 1, strings.Count(text, "\n"), size)
	}
}
