//go:build unix

package issue

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	got, err := Command{Line: `printf '{"title":"%s in %s","labels":["a"]}'`, Dir: dir, Stderr: nil}.Issue(t.Context(), `4 "$(reboot)2`)
	require.ErrorContains(t, err, "line 1", "the issue is an argument, quotes and all: %v", got)

	got, err = Command{Line: `printf '{"title":"%s","body":"'"$PWD"'"}'`, Dir: dir}.Issue(t.Context(), "4;$(reboot)2")
	require.NoError(t, err)
	assert.Equal(t, "4;$(reboot)2", got.Title)
	assert.Equal(t, filepath.Base(dir), filepath.Base(got.Body))
	assert.Equal(t, "issue_command", got.Source)
	assert.Equal(t, []string{"labels", "assignees", "state"}, got.Absent)
}

func TestCommandFails(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"exit status", "echo secret; echo secret >&2; exit 3 #", "issue_command: exit status 3"},
		{"signal", "kill -9 $$ #", "issue_command: signal: killed"},
		{"not there", "/no/such/secret", "issue_command: exit status 127"},
		{"nothing", "true", "issue_command: its output: line 1, column 1: empty, want a mapping"},
		{"no issue", "echo [] #", "issue_command: its output: line 1, column 1: want a mapping, got a list"},
		{"wrong type", `echo '{"title":[]}' #`, "issue_command: its output: line 1, column 10: title: want text"},
		{"endless", "yes #", "issue_command: prints more than 8 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err := Command{Line: c.line}.Issue(ctx, "42")
			require.EqualError(t, err, c.want)
			assert.NoError(t, ctx.Err())
		})
	}
}

// TestCommandHangs checks that child processes, which hold the output open, are killed
// too.
func TestCommandHangs(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Command{Line: "sleep 60 & echo $! > " + pidFile + "; wait #"}.Issue(ctx, "42")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(start), 5*time.Second)
	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return gone(pid) }, 5*time.Second, 20*time.Millisecond)
}

// TestCommandStopsReadingFromADaemon starts a daemon outside the process group that keeps the
// output open.
func TestCommandStopsReadingFromADaemon(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid here")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Command{Line: "setsid sleep 3 & true #"}.Issue(ctx, "42")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(start), 2*time.Second)
}

// gone reports whether a process ended. Zombies count as ended.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return syscall.Kill(pid, 0) != nil || err == nil && bytes.Contains(stat, []byte(") Z "))
}
