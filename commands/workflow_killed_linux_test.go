package commands

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// workflowScript is a workflow of 8 phases that can be killed at any point and started
// again from its first line. Each phase appends a line to a log.
const workflowScript = `
eval "$(git-checkpoint resume 42 --auto --print env 2>../resume.err)"
[ -n "$CHECKPOINT_ID" ] || git-checkpoint start 42 --phases 8 >../id || exit 6
while n=$(git-checkpoint phase next --issue 42 2>/dev/null) && [ -n "$n" ]; do
	git-checkpoint phase start "$n" --issue 42 >../id || exit 7
	echo "ran $n" >>../log
	[ "$n" = "$KILL_IN" ] && kill -9 $$
	git-checkpoint phase done "$n" --issue 42 >../id || exit 8
	echo "done $n" >>../log
	[ "$n" = "$KILL_AFTER" ] && kill -9 $$
done
exit 0
`

func (v *victim) workflow(env ...string) error {
	cmd := v.command("sh", "-c", workflowScript)
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(v.t, cmd.Start())
	return cmd.Wait()
}

// unlock removes the empty locks of killed git processes, which only a person may remove.
func (v *victim) unlock() {
	for _, lock := range v.locks() {
		if info, err := os.Stat(lock); err == nil && info.Size() == 0 {
			require.NoError(v.t, os.Remove(lock))
		}
	}
}

// log returns the lines of the phases.
func (v *victim) log() []string {
	data, err := os.ReadFile(v.path("../log"))
	require.NoError(v.t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func newWorkflow(t *testing.T) *victim {
	v := newVictim(t)
	v.git("config", "checkpoint.issue-source", "none")
	return v
}

const phasesOfWorkflow = 8

// The shell is killed with SIGKILL after each phase, and the workflow is started again.
// Each phase runs exactly once and produces a checkpoint.
func TestWorkflowKilledAfterEachPhase(t *testing.T) {
	t.Parallel()
	gittest.Slow(t)
	v := newWorkflow(t)
	var want []string
	for n := 1; n <= phasesOfWorkflow; n++ {
		err := v.workflow(fmt.Sprintf("KILL_AFTER=%d", n))
		require.EqualError(t, err, "signal: killed")
		want = append(want, fmt.Sprintf("ran %d", n), fmt.Sprintf("done %d", n))
		require.Equal(t, want, v.log())
		assert.Contains(t, v.tool("status", "42", "--json"), fmt.Sprintf(`"complete":%t`, n == phasesOfWorkflow))
	}
	require.NoError(t, v.workflow())
	require.Equal(t, want, v.log(), "nothing is left to do")
	v.tool("finish", "42")
	v.sound()
}

// If the workflow is killed during a phase, only this phase runs again, with a higher
// attempt count.
func TestWorkflowKilledInEachPhase(t *testing.T) {
	t.Parallel()
	gittest.Slow(t)
	v := newWorkflow(t)
	var want []string
	for n := 1; n <= phasesOfWorkflow; n++ {
		err := v.workflow(fmt.Sprintf("KILL_IN=%d", n))
		require.EqualError(t, err, "signal: killed")
		if want = append(want, fmt.Sprintf("ran %d", n)); n > 1 {
			want = slices.Insert(want, len(want)-1, fmt.Sprintf("ran %d", n-1), fmt.Sprintf("done %d", n-1))
		}
		require.Equal(t, want, v.log())
	}
	require.NoError(t, v.workflow())
	require.Equal(t, append(want, "ran 8", "done 8"), v.log())
	for n := 1; n <= phasesOfWorkflow; n++ {
		assert.Equal(t, "2", v.tool("show", "42", "--get", fmt.Sprintf("progress.phases.%d.attempt", n)))
	}
}

// The shell, the program and its git processes are killed at any point. Phases run in
// order, completed phases never run again, and the workflow completes.
func TestWorkflowKilledAnywhere(t *testing.T) {
	t.Parallel()
	gittest.Slow(t)
	v := newWorkflow(t)
	kills, limit := 0, 80*time.Millisecond
	for ended := false; !ended; {
		require.Less(t, kills, 200)
		cmd := v.command("sh", "-c", workflowScript)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case err := <-done:
			require.NoError(t, err, v.tool("status", "42"))
			ended = true
		case <-time.After(rand.N(limit)):
			limit += limit / 16 // so that a slow machine makes progress too
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-done
			kills++
		}
		v.unlock()
	}
	t.Logf("%d kills", kills)
	said := map[int]bool{}
	most := 0
	for _, line := range v.log() {
		what, number, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(number)
		require.NoError(t, err)
		require.False(t, said[n], "%s after it was done:\n%s", line, strings.Join(v.log(), "\n"))
		require.True(t, n == most || n == most+1, "%s out of order", line)
		most, said[n] = max(most, n), what == "done"
	}
	require.Equal(t, phasesOfWorkflow, most)
	assert.Contains(t, v.tool("status", "42", "--json"), `"completed_phases":["1","2","3","4","5","6","7","8"]`)
	v.sound()
}

// The workflow of the guide runs unchanged. It completes if it is killed in a phase or
// if a phase fails once. If a phase always fails, it stops at the limit.
func TestGuideWorkflow(t *testing.T) {
	t.Parallel()
	script, err := guideBlock("workflow", "phase next")
	require.NoError(t, err)
	script = strings.ReplaceAll(script, "git checkpoint", "git-checkpoint")
	v := newWorkflow(t)
	v.write("work.sh", `echo "$1" >>../log
case $(wc -l <../log) in
2) kill -9 $PPID ;; # the workflow, in its second phase
3) exit 1 ;;
esac
[ "$1" != broken ]
`)
	require.NoError(t, os.Chmod(v.path("work.sh"), 0o777))
	v.git("add", "work.sh")
	assert.Equal(t, -1, v.try("sh", "-c", script).code)
	o := v.try("sh", "-c", script)
	require.Zero(t, o.code, o.err)
	assert.Equal(t, []string{"design", "build", "build", "build", "test"}, v.log())
	archived := strings.Fields(o.out)
	assert.Equal(t, "3", v.tool("show", "42", archived[len(archived)-1], "--get", "progress.phases.build.attempt"))

	o = v.try("sh", "-c", strings.ReplaceAll(script, "design,build,test", "broken"))
	assert.Equal(t, 1, o.code)
	assert.Contains(t, o.err, "phase broken failed 4 times, the limit is 3 retries")
}
