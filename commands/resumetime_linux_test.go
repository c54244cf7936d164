package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A resume takes a fraction of a second. It starts at most ten git processes of one to three
// milliseconds, for any number of files and phases. They read settings, folders, the index and the
// worktree. The duration is logged without a limit, since machines differ.
func TestResumeStartsFewGits(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t)
	v.git("config", "checkpoint.issue-source", "none")
	for n := range 50 {
		v.write(fmt.Sprintf("dir/%d.txt", n), "x\n")
	}
	v.git("add", ".")
	v.must("git-checkpoint", "start", "42", "--phases", "8")
	for n := range 7 {
		v.must("git-checkpoint", "phase", "done", fmt.Sprint(n+1), "--issue", "42")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	v.env = append(v.env, "GIT_TRACE2_EVENT="+trace)
	started := func() int {
		text, err := os.ReadFile(trace)
		require.NoError(t, err)
		return strings.Count(string(text), `"event":"start"`)
	}
	v.git("rev-parse", "HEAD")
	require.Equal(t, 1, started(), "the trace has each git process")
	begun := time.Now()
	require.Contains(t, v.must("git-checkpoint", "resume", "42", "--auto", "--force"), "phase_8")
	t.Log(time.Since(begun))
	assert.LessOrEqual(t, started()-1, 10)
}
