package odb

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestByteLimitBoundsConcurrentCalls checks the bytes of calls that run at the same time. A
// call above the limit runs alone.
func TestByteLimitBoundsConcurrentCalls(t *testing.T) {
	t.Parallel()
	const total = 100
	limit := newByteLimit(total)
	var used, calls atomic.Int64
	err := parallel(200, func(i int) error {
		n := int64([]int{1, 30, 60, 250}[i%4])
		limit.acquire(n)
		defer limit.release(n)
		now, running := used.Add(n), calls.Add(1)
		assert.True(t, now <= total || n > total && running == 1, "%d bytes in %d calls", now, running)
		time.Sleep(100 * time.Microsecond) // so that other calls could run
		calls.Add(-1)
		used.Add(-n)
		return nil
	})
	require.NoError(t, err)
}
