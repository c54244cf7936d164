package commands

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/testing/gittest"
)

// killedAt runs the program under strace. It kills the program or its git at the first of
// some system calls on a file of the repository, before the call.
func (v *victim) killedAt(file, calls string, args ...string) outcome {
	v.t.Helper()
	needs(v.t, "strace")
	log := filepath.Join(v.t.TempDir(), "trace")
	inject := []string{
		"-f", "-o", log, "-P", v.path(file), "-e", "trace=" + calls,
		"-e", "inject=" + calls + ":error=EIO:signal=KILL:when=1", "git-checkpoint",
	}
	o := v.try("strace", append(inject, args...)...)
	trace, err := os.ReadFile(log)
	require.NoError(v.t, err)
	require.Containsf(v.t, string(trace), "+++ killed by SIGKILL +++", "%s: %s", o.name, o.out)
	v.later()
	return o
}

// refused runs the program and requires failure with an exit code.
func (v *victim) refused(code int, args ...string) string {
	v.t.Helper()
	o := v.try("git-checkpoint", args...)
	require.Equalf(v.t, code, o.code, "%s: %s", o.name, o.err)
	return o.err
}

// straceVictim returns a repository with checkpoints of issue 42, oldest first.
func straceVictim(t *testing.T, checkpoints int) (v *victim, ids []string) {
	t.Helper()
	v = newVictim(t)
	for range checkpoints {
		ids = append(ids, v.tool("save", "42"))
	}
	return v, ids
}

// An undo that was killed before its ref moved has left a reflog entry. A second undo
// works as if the first had not started.
func TestUndoKilledBeforeItsMove(t *testing.T) {
	t.Parallel()
	for _, remove := range [][]string{{"drop", "42", "latest~1", "--yes"}, {"prune", "42", "--keep", "manual=1"}} {
		v, ids := straceVictim(t, 3)
		slices.Reverse(ids)
		v.tool(remove...)
		v.killedAt(".git/refs/checkpoints/42.lock", "rename", "undo", "42")
		require.NotEqual(t, ids, v.ids("42"))
		v.next("undo", "42")
		require.Equal(t, ids, v.ids("42"))
		require.Contains(t, v.refused(failure.Failure, "undo", "42"), "nothing to undo")
		v.sound()
	}
}

// killedTreeAt runs the program under strace until its git is at such a call on a file
// that git has created. It then kills the program and git, as at the end of a container.
func (v *victim) killedTreeAt(file, calls string, args ...string) {
	v.t.Helper()
	needs(v.t, "strace")
	cmd := v.command("strace", append([]string{
		"-f", "-o", os.DevNull, "-P", v.path(file), "-e", "trace=" + calls,
		"-e", "inject=" + calls + ":delay_enter=600000000:when=1", "git-checkpoint",
	}, args...)...)
	require.NoError(v.t, cmd.Start())
	require.Eventually(v.t, func() bool {
		_, err := os.Stat(v.path(file))
		return err == nil
	}, patience, time.Millisecond, "%v", cmd.Args)
	time.Sleep(50 * time.Millisecond)
	require.FileExists(v.t, v.path(file), "%v", cmd.Args)
	killTree(cmd)
	require.Error(v.t, cmd.Wait())
	v.later()
}

// A minute later, empty or partial locks of killed git processes block no command. Git is killed
// alone, or with the program.
func TestLocksOfKilledGit(t *testing.T) {
	t.Parallel()
	none := func(*victim) {}
	restored := func(v *victim) {
		v.git("reset", "-q", "--hard")
		v.tool("restore", "42")
	}
	packed := func(v *victim) {
		restored(v)
		v.git("pack-refs", "--all")
	}
	for name, c := range map[string]struct {
		setup func(v *victim)
		file  string
		calls string
		args  []string
	}{
		"first save":         {none, "refs/checkpoints/NEW-1.lock", "write", []string{"save", "NEW-1"}},
		"own ref":            {none, "refs/git-checkpoint/own/NEW-1.lock", "write", []string{"save", "NEW-1"}},
		"first archive":      {none, "refs/checkpoints-archive/42.lock", "write", []string{"archive", "42", "latest~1"}},
		"save":               {none, "refs/checkpoints/42.lock", "write", []string{"save", "42"}},
		"undo":               {none, "refs/checkpoints/42.lock", "write", []string{"undo", "42"}},
		"drop":               {none, "refs/checkpoints/42.lock", "close", []string{"drop", "42", "latest", "--yes"}},
		"before the rename":  {none, "refs/checkpoints-archive/42.lock", "rename", []string{"archive", "42", "latest~1"}},
		"second of several":  {none, "refs/checkpoints/42.lock", "rename", []string{"archive", "42", "latest~1"}},
		"purge, reflog":      {none, "logs/refs/checkpoints/42.lock", "write,close", []string{"drop", "42", "latest", "--purge", "--yes"}},
		"purge, packed refs": {packed, "packed-refs.new", "write,close", []string{"drop", "42", "latest", "--purge", "--yes"}},
	} {
		for who, die := range map[string]func(v *victim, file, calls string, args ...string){
			"git": func(v *victim, file, calls string, args ...string) { v.killedAt(file, calls, args...) },
			"all": (*victim).killedTreeAt,
		} {
			t.Run(name+"/"+who, func(t *testing.T) {
				t.Parallel()
				v, _ := straceVictim(t, 4)
				c.setup(v)
				if c.args[0] == "undo" {
					v.tool("drop", "42", "latest~2", "--yes")
				}
				before := v.ids("42")
				die(v, ".git/"+c.file, c.calls, c.args...)
				t.Log(v.locks())
				v.next("save", "42")
				v.next(c.args...)
				v.next("verify")
				if c.args[0] == "save" {
					require.Subset(t, v.ids("42"), before)
				}
				v.git("pack-refs", "--all")
				require.Empty(t, v.locks())
				require.NoFileExists(t, v.path(".git/packed-refs.new"))
				v.sound()
			})
		}
	}
}

// archivedIDs returns the archived checkpoints of an issue, newest first.
func (v *victim) archivedIDs(issue string) []string {
	v.t.Helper()
	o := v.try("git-checkpoint", "list", issue, "--archived", "--json")
	var list struct {
		Checkpoints []struct {
			ID string `json:"checkpoint_id"`
		} `json:"checkpoints"`
	}
	if o.code != failure.None {
		require.Zerof(v.t, o.code, "%s: %s", o.name, o.err)
		require.NoError(v.t, json.Unmarshal([]byte(o.out), &list))
	}
	var ids []string
	for _, c := range list.Checkpoints {
		ids = append(ids, c.ID)
	}
	return ids
}

// A command that moves a chain and its archive is killed between any two of its renames.
// doctor --fix then completes it or takes it back. A repeated command completes it exactly once.
func TestInterruptedTransaction(t *testing.T) {
	t.Parallel()
	template, ids := straceVictim(t, 5)
	template.tool("archive", "42", ids[0])
	template.tool("archive", "42", ids[1])
	drop := []string{"drop", "42", ids[1], "--yes"}
	for name, c := range map[string]struct{ before, args []string }{
		"archive":         {nil, []string{"archive", "42", ids[2]}},
		"drop":            {nil, drop},
		"undo of archive": {[]string{"archive", "42", ids[2]}, []string{"undo", "42"}},
		"undo of drop":    {drop, []string{"undo", "42"}},
		"undo of prune":   {[]string{"prune", "42", "--keep", "manual=1"}, []string{"undo", "42"}},
	} {
		for _, ref := range []string{"checkpoints/42", "checkpoints-archive/42", "git-checkpoint/own/42"} {
			t.Run(name+" at "+ref, func(t *testing.T) {
				t.Parallel()
				v := template.copy(t)
				if c.before != nil {
					v.tool(c.before...)
				}
				before := [][]string{v.ids("42"), v.archivedIDs("42")}
				whole := v.copy(t)
				whole.tool(c.args...)
				after := [][]string{whole.ids("42"), whole.archivedIDs("42")}
				if ref == "checkpoints-archive/42" && slices.Equal(before[1], after[1]) {
					return // this ref does not move
				}
				v.killedAt(".git/refs/"+ref+".lock", "rename", c.args...)
				v.next("doctor", "--fix")
				v.next("verify", "42")
				have := [][]string{v.ids("42"), v.archivedIDs("42")}
				require.Contains(t, [][][]string{before, after}, have)
				v.next("doctor", "--fix")
				have = [][]string{v.ids("42"), v.archivedIDs("42")}
				require.Contains(t, [][][]string{before, after}, have)
				if c.args[0] == "undo" || slices.EqualFunc(have, before, slices.Equal) {
					v.next(c.args...)
				}
				require.Equal(t, after, [][]string{v.ids("42"), v.archivedIDs("42")})
				v.sound()
				v.next("archive", "42", "latest") // moves each of the refs
				require.Empty(t, v.locks())
			})
		}
	}
}

// A fork that is killed between the moves of its refs leaves complete forks only. The missing
// forks can be made again.
func TestForkKilledBetweenItsRefs(t *testing.T) {
	gittest.Slow(t)
	parts := 0 // kills that left one of the forks
	for _, ref := range []string{"checkpoints/42+a", "checkpoints/42+b", "git-checkpoint/own/42+a", "git-checkpoint/own/42+b"} {
		for _, calls := range []string{"write", "rename"} {
			when := calls + " " + ref
			v, _ := straceVictim(t, 2)
			v.write("untracked", "new\n")
			v.tool("save", "42")
			v.killedAt(".git/refs/"+ref+".lock", calls, "fork", "42", "a", "b")
			made := 0
			var missing []string
			for _, name := range []string{"a", "b"} {
				if _, err := os.Stat(v.path(".git/refs/checkpoints/42+" + name)); err != nil {
					missing = append(missing, name)
					continue
				}
				made++
				assert.Equal(t, 1, len(v.ids("42+"+name)), when)
				assert.Contains(t, v.tool("show", "42+"+name), "untracked", when)
				assert.Contains(t, v.tool("status", "42+"+name), "fork "+name+" of issue 42", when)
			}
			if made == 1 {
				parts++
			}
			for _, name := range missing {
				v.next("fork", "42", name)
			}
			v.sound()
			require.Len(t, v.ids("42"), 3)
		}
	}
	assert.NotZero(t, parts)
}

// workflowScript is a workflow of 8 phases that can be killed at any point and started
// again from its first line. Each phase appends a line to a log.
const workflowScript = `
eval "$(git-checkpoint resume 42 --auto --print env 2>../resume.err)"
[ -n "$CHECKPOINT_ID" ] || git-checkpoint start 42 --phases 8 >../id || exit 6
while n=$(git-checkpoint phase next --issue 42 2>/dev/null) && [ -n "$n" ]; do
	git-checkpoint phase start "$n" --issue 42 >../id || exit 7
	echo "ran $n" >>../log
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

// The shell, the program and its git processes are killed at any point. Phases run in
// order, completed phases never run again, and the workflow completes.
func TestWorkflowKilledAnywhere(t *testing.T) {
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
		v.later()
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

// If a ref directory's sync fails, refs have moved already. The error then reports a
// completed change and a new checkpoint's id.
func TestFailureAfterTheMove(t *testing.T) {
	gittest.Slow(t)
	needs(t, "strace")
	for _, args := range [][]string{
		{"save", "42"},
		{"save", "99"},
		{"save", "42", "--trigger", "batch_complete"},
		{"pin", "42", "latest~1"},
		{"archive", "42", "latest~1"},
		{"drop", "42", "latest~1", "--yes"},
		{"prune", "42", "--keep", "batch_complete=1"},
		{"fetch", "7", "--remote", "../up"},
		{"sync", "7", "--yes", "--remote", "../up"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			v := newVictim(t).durable()
			v.git("init", "-q", "--bare", "../up")
			v.git("remote", "add", "up", "../up")
			other := v.copy(t)
			other.tool("save", "7")
			other.git("push", "-q", v.path("../up"), "refs/checkpoints/7")
			v.tool("save", "42")
			for range 3 {
				v.tool("save", "42", "--trigger", "batch_complete")
			}
			before := v.everywhere()
			o := v.unsyncedRefs(args...)
			require.Equalf(t, failure.Failure, o.code, "%s", o.err)
			require.Contains(t, o.err, "input/output error")
			require.NotContains(t, o.out, "CP-")
			now := v.everywhere()
			if args[0] != "save" {
				require.Contains(t, o.err, "the change is made, but: sync ")
			} else {
				id, _, found := strings.Cut(strings.TrimPrefix(o.err, "git-checkpoint: save issue "+args[1]+": "), " is in the chain, but: sync ")
				require.True(t, found, o.err)
				require.True(t, now[id], o.err)
				require.False(t, before[id])
			}
			v.sound()
		})
	}
}

// unsyncedRefs runs the program with EIO for each sync of a ref directory.
func (v *victim) unsyncedRefs(args ...string) outcome {
	trace := []string{"-f", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:error=EIO"}
	for _, dir := range []string{"checkpoints", "checkpoints-archive", "git-checkpoint/own", "git-checkpoint/remote", "git-checkpoint/remote/up"} {
		trace = append(trace, "-P", v.path(".git/refs/"+dir))
	}
	return v.try("strace", append(append(trace, "git-checkpoint"), args...)...)
}

// together runs commands at the same time and returns their outcomes.
func (v *victim) together(lines ...string) []outcome {
	out := make([]outcome, len(lines))
	var wg sync.WaitGroup
	for i, line := range lines {
		wg.Go(func() { out[i] = v.try("git-checkpoint", strings.Fields(line)...) })
	}
	wg.Wait()
	return out
}

// Phases that end at the same time are all recorded: a save that loses a race reapplies
// the step to the other writer's record.
func TestPhasesTogether(t *testing.T) {
	gittest.Slow(t)
	v := newWorkflow(t)
	v.tool("start", "42", "--phases", "8")
	var lines []string
	for n := 1; n <= 8; n++ {
		lines = append(lines, fmt.Sprintf("phase done %d --issue 42", n))
	}
	for _, o := range v.together(lines...) {
		require.Zero(t, o.code, o.err)
		require.NotEmpty(t, o.out)
	}
	assert.Contains(t, v.tool("status", "42", "--json"), `"completed_phases":["1","2","3","4","5","6","7","8"]`)
	v.sound()
}

// Without PHASE, the command selects the current phase at process start. If another
// process completes that phase first, the command does not complete the next phase.
func TestConcurrentPhaseDoneCompletesOnePhase(t *testing.T) {
	t.Parallel()
	v := newWorkflow(t)
	v.tool("start", "42", "--phases", "8")
	for n := 1; n <= 3; n++ {
		want := v.tool("phase", "next", "--issue", "42")
		saved := 0
		for _, o := range v.together(strings.Split(strings.Repeat("phase done "+want+" --issue 42;", 3)+"phase done "+want+" --issue 42", ";")...) {
			require.Zero(t, o.code, o.err)
			if o.out != "" {
				saved++
			} else {
				assert.Equal(t, "skipped: phase "+want+" is completed already", o.err)
			}
		}
		assert.Equal(t, 1, saved, "one of them completed it")
	}
	assert.Contains(t, v.tool("status", "42", "--json"), `"completed_phases":["1","2","3"]`)
}

// A phase is replanned at most twice, for any number of concurrent requests.
func TestConcurrentReplans(t *testing.T) {
	gittest.Slow(t)
	v := newWorkflow(t)
	v.tool("start", "42", "--phases", "3")
	codes := map[int]int{}
	for _, o := range v.together(strings.Split(strings.Repeat("phase replan 1 --issue 42;", 5)+"phase replan 1 --issue 42", ";")...) {
		codes[o.code]++
	}
	assert.Equal(t, map[int]int{0: 2, failure.Limit: 4}, codes)
	assert.Contains(t, v.tool("status", "42", "--json"), `"replans":{"1":2}`)
}
