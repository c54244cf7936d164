package layout

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func mustTime(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	require.NoError(t, err)
	return at
}
