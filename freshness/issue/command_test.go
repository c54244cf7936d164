//go:build unix

package issue

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommandFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, want string }{
		{"signal", "kill -9 $$ #", "issue_command: signal: killed"},
		{"not there", "/no/such/secret", "issue_command: exit status 127"},
		{"nothing", "true", "issue_command: its output: line 1, column 1: empty, want a mapping"},
		{"no issue", "echo [] #", "issue_command: its output: line 1, column 1: want a mapping, got a list"},
		{"wrong type", `echo '{"title":[]}' #`, "issue_command: its output: line 1, column 10: title: want text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := Command{Line: c.line}.Issue(ctx, "42")
			require.EqualError(t, err, c.want)
			assert.NoError(t, ctx.Err())
		})
	}
}

// patience ends a wait for an event that does not happen. Processes that must not be waited
// for sleep longer, for 600 seconds.
const patience = 2 * time.Minute

// hang runs a command that writes the process id of a sleeping child process to the file $PID.
// The deadline passes when the file exists. hang returns the process id and the error of Issue.
func hang(t *testing.T, line string) (pid int, err error) {
	t.Helper()
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, done := gittest.NewDeadline(t), make(chan error, 1)
	go func() {
		_, err := Command{Line: line, Env: append(os.Environ(), "PID="+pidFile)}.Issue(ctx, "42")
		done <- err
	}()
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(pidFile)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 0
	}, patience, time.Millisecond, "the command does not start")
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	ctx.Pass()
	select {
	case err = <-done:
	case <-time.After(patience):
		t.Fatal("Issue still waits for the command")
	}
	return pid, err
}

// TestCommandHangs checks that child processes, which hold the output open, are killed
// too.
func TestCommandHangs(t *testing.T) {
	t.Parallel()
	pid, err := hang(t, "sleep 600 & echo $! >\"$PID\"; wait #")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Eventually(t, func() bool { return gittest.HasEnded(pid) }, patience, 5*time.Millisecond, "the child process still runs")
}

// TestCommandStopsReadingFromADaemon starts a daemon outside the process group that keeps the
// output open.
func TestCommandStopsReadingFromADaemon(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid here")
	}
	pid, err := hang(t, `setsid sh -c 'echo $$ >"$PID"; exec sleep 600' & true #`)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.False(t, gittest.HasEnded(pid), "a process of another group is not killed")
}
