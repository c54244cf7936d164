//go:build unix

package git

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Cancelling a git in a separate process group terminates its children too. A transport
// that hangs would otherwise keep the output pipe open.
func TestCancelTerminatesProcessGroup(t *testing.T) {
	r, g := repo(t)
	g.Apart = true
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for range 1000 {
			if _, err := os.Stat(r.Path("waiting")); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	start := time.Now()
	_, err := g.Output(ctx, "-c", "alias.x=!echo >waiting; sleep 60; true", "x")
	require.Error(t, err)
	assert.Less(t, time.Since(start), graceful)
}
