package save

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"90": 90 * time.Second, "10m": 10 * time.Minute, "1h30m": 90 * time.Minute} {
		got, err := parseDuration(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := parseDuration("soon")
	assert.Error(t, err)
}
