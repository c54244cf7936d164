package guard

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Output of transient failures is recognised.
func TestTransientLineFindsTemporaryFailures(t *testing.T) {
	for said, want := range map[string]string{
		"":                                      "",
		"all tests passed\n":                    "",
		"FAIL: 3 of 502 tests\n":                "",
		"curl: (6) Could not resolve host: x\n": "curl: (6) Could not resolve host: x",
		"API Error: 529 {\"type\":\"overloaded_error\"}\nbye\n":                             "API Error: 529 {\"type\":\"overloaded_error\"}",
		"read tcp: Connection reset by peer\n" + strings.Repeat("and went on\n", lastLines): "",
	} {
		tail := &tail{to: io.Discard}
		_, err := tail.Write([]byte(said))
		require.NoError(t, err)
		assert.Equal(t, want, transientLine(tail.lines()), said)
	}
}

// tail retains the end of long output.
func TestTailKeepsTheEnd(t *testing.T) {
	tail := &tail{to: io.Discard}
	for range 10_000 {
		_, _ = tail.Write([]byte("0123456789\n"))
	}
	_, _ = tail.Write([]byte("last\n"))
	assert.Equal(t, "last", tail.lines()[0])
	assert.LessOrEqual(t, len(tail.kept), 2*tailSize)
}

func TestBackoffDoublesUpToMaxWait(t *testing.T) {
	var got []time.Duration
	for retry := range 4 {
		got = append(got, backoff(2*time.Second, retry))
	}
	assert.Equal(t, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}, got)
	assert.Equal(t, maxWait, backoff(time.Second, 1000))
	assert.Equal(t, time.Hour, backoff(time.Hour, 0))
}
