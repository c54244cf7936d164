package commands

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A resume of a workflow with phases and files takes less than a second for the whole
// process. On a busy machine the limit is 50 times the duration of git rev-parse. The
// fastest of a few runs counts.
func TestResumeWithinASecond(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
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
	best, git := time.Hour, time.Hour
	for range 5 {
		begun := time.Now()
		v.git("rev-parse", "HEAD")
		git = min(git, time.Since(begun))
		begun = time.Now()
		o := v.must("git-checkpoint", "resume", "42", "--auto", "--force")
		best = min(best, time.Since(begun))
		require.Contains(t, fmt.Sprint(o), "phase_8")
	}
	assert.Less(t, best, max(time.Second, 50*git))
}
