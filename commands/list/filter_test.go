package list

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSince(t *testing.T) {
	now := time.Date(2026, 2, 14, 14, 30, 0, 0, time.UTC)
	for _, c := range []struct{ in, want string }{
		{"7d", "2026-02-07T14:30:00.000000Z"},
		{"36h", "2026-02-13T02:30:00.000000Z"},
		{"2026-02-01", "2026-02-01T00:00:00.000000Z"},
		{"2026-02-01T10:00:00+02:00", "2026-02-01T08:00:00.000000Z"},
	} {
		at, err := parseSince(c.in, now)
		require.NoError(t, err, c.in)
		assert.Equal(t, c.want, checkpoint.FormatTime(at), c.in)
	}
	for _, in := range []string{"yesterday", "7 d", "d", "7dd", "--"} {
		_, err := parseSince(in, now)
		assert.Error(t, err, in)
	}
	at, err := parseSince("", now)
	require.NoError(t, err)
	assert.True(t, at.IsZero())
}
