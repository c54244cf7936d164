//go:build unix

package git

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// Cancelling a git in a separate process group terminates its children too. A transport
// that hangs would otherwise keep the output pipe open.
func TestCancelTerminatesProcessGroup(t *testing.T) {
	t.Parallel()
	r, g := repo(t)
	g.Apart = true
	ctx, cancel := context.WithCancel(context.Background())
	go cancelAt(cancel, r.Path("waiting"))
	var err error
	inPatience(t, func() {
		_, err = g.Output(ctx, "-c", "alias.x=!sleep 600 & echo $! >child; mv child waiting; wait; true", "x")
	})
	require.Error(t, err)
	text, err := os.ReadFile(r.Path("waiting"))
	require.NoError(t, err)
	untilGone(t, processID(t, text))
}

// processID returns a process id that a program has written, and kills the process after the
// test.
func processID(t *testing.T, text []byte) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// untilGone waits for the end of a process.
func untilGone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		return gittest.HasEnded(pid)
	}, patience, 5*time.Millisecond, "process %d still runs", pid)
}
