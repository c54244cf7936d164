package commands

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A protected is a command under `run`, without a terminal.
type protected struct {
	*victim
	cmd  *exec.Cmd
	said lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// defaultSignals gives the programs that tests start the default action for interrupting
// signals. Programs inherit an ignored signal, for example if nohup or the background of a shell
// runs the tests. They do not inherit a handler, so a handler in this process is enough.
var defaultSignals = sync.OnceFunc(func() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
})

// protect starts a shell script under run.
func protect(v *victim, script string, flags ...string) *protected {
	v.t.Helper()
	defaultSignals()
	args := append(append([]string{"run", "42"}, flags...), "--", "sh", "-c", "echo $$ >../pid; "+script)
	p := &protected{victim: v, cmd: v.command("git-checkpoint", args...)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.cmd.Stderr = &p.said
	require.NoError(v.t, p.cmd.Start())
	v.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if pid := p.child(); pid > 0 {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
	})
	return p
}

func (p *protected) child() int {
	data, _ := os.ReadFile(p.path("../pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid
}

// until waits for a condition. Programs that must not be waited for sleep longer than patience,
// for 600 seconds.
func (p *protected) until(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		require.True(p.t, time.Now().Before(end), "waited for %s: %s", what, p.said.String())
	}
}

func (p *protected) untilFile(name string) {
	p.t.Helper()
	p.until(name, func() bool { _, err := os.Stat(p.path(name)); return err == nil })
}

// code waits for the end and returns the exit code.
func (p *protected) code() int {
	p.t.Helper()
	hang := time.AfterFunc(patience, func() {
		p.t.Error("run does not end")
		_ = p.cmd.Process.Kill()
	})
	defer hang.Stop()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	require.True(p.t, err == nil || errors.As(err, &exit), "%v", err)
	return p.cmd.ProcessState.ExitCode()
}

func (p *protected) gone() {
	p.t.Helper()
	p.until("the end of the command", func() bool { return !groupRuns(p.child()) })
}

// groupRuns reports whether a process group has a process that is not a zombie. Zombies stay in
// a container whose first process does not reap them.
func groupRuns(group int) bool {
	return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) && groupSize(group) > 0
}

// groupSize returns the number of processes of a group that are no zombies.
func groupSize(group int) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, _ := os.ReadFile(file)
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // state, parent, group
		if len(fields) > 2 && fields[0] != "Z" && fields[2] == strconv.Itoa(group) {
			n++
		}
	}
	return n
}

// triggers returns the triggers of the checkpoints, newest first.
func (v *victim) triggers() []string {
	v.t.Helper()
	return strings.Fields(v.git("log", "--first-parent", "--format=%(trailers:key=Checkpoint-Trigger,valueonly)", "refs/checkpoints/42"))
}

// A signal saves the work and then ends the command and its child processes.
func TestRunSignals(t *testing.T) {
	for s, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			p := protect(newVictim(t), "echo new >new.txt; sleep 600; true")
			p.untilFile("new.txt")
			// A shell that starts a program at this moment can lose a SIGINT.
			p.until("the start of sleep", func() bool { return groupSize(p.child()) == 2 })
			require.NoError(t, p.cmd.Process.Signal(s))
			assert.Equal(t, code, p.code())
			p.gone()
			assert.Equal(t, []string{"user_interrupt"}, p.triggers())
			assert.Equal(t, "new", p.git("cat-file", "-p", "refs/checkpoints/42:state/new.txt"))
			p.sound()
		})
	}
}

// A signal that is ignored at the start, as nohup does, stays ignored: neither the program nor
// the command ends.
func TestRunUnderNohup(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	p := &protected{victim: v, cmd: v.command("sh", "-c", "trap '' HUP; exec git-checkpoint run 42 -- sh -c 'echo $$ >../pid; echo >ready; until [ -e end ]; do sleep 0.02; done'")}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, p.cmd.Start())
	p.untilFile("ready")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	v.write("end", "")
	assert.Zero(t, p.code())
	assert.Empty(t, p.ids("42"))
}

// The command gets the signal after the save, which does not wait for the source. Its own
// exit code is returned.
func TestRunSavesFirst(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.git("config", "checkpoint.issue-source", "command")
	v.git("config", "checkpoint.issue-command", "touch "+v.path("../asked")+"; sleep 600")
	p := protect(v, "trap 'rm -f new.txt; echo told >told; exit 7' TERM; echo new >new.txt; while :; do sleep 0.02; done")
	p.untilFile("new.txt")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 7, p.code())
	p.untilFile("told")
	tree := p.git("ls-tree", "-r", "--name-only", "refs/checkpoints/42")
	assert.Contains(t, tree, "state/new.txt")
	assert.NotContains(t, tree, "told")
	assert.NoFileExists(t, v.path("../asked"))
}

// A second signal of the same kind ends a command that survived the first. A signal of
// another kind is passed on at once.
func TestRunSecondSignal(t *testing.T) {
	t.Parallel()
	p := protect(newVictim(t), "trap '' INT; echo >ready; sleep 600; sleep 600")
	p.untilFile("ready")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	p.until("the checkpoint", func() bool { return strings.Contains(p.said.String(), "saved CP-") })
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	assert.Equal(t, 130, p.code())
	p.gone()
	assert.Len(t, p.triggers(), 1)

	p = protect(newVictim(t), "trap '' INT; echo >ready; sleep 600; sleep 600")
	p.untilFile("ready")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 143, p.code())
	p.gone()
}

// A second Ctrl+C does not wait for a slow save.
func TestRunSecondSignalEndsASave(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	hook := v.path(".git/hooks/reference-transaction")
	require.NoError(t, os.MkdirAll(v.path(".git/hooks"), 0o777))
	require.NoError(t, os.WriteFile(hook, []byte("#!/bin/sh\necho >../saving\nsleep 600\n"), 0o777))
	v.write("big.txt", "x\n")
	v.git("config", "filter.slow.clean", "echo >"+v.path("../slow")+"; sleep 600; cat")
	v.write(".gitattributes", "big.txt filter=slow\n")
	p := protect(v, "trap '' INT; echo >ready; sleep 600; sleep 600")
	p.untilFile("ready")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	p.untilFile("../slow")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	assert.Equal(t, 130, p.code())
	require.NoError(t, os.Remove(hook))
	assert.Empty(t, p.ids("42"))
	assert.Empty(t, p.locks())
}

// A killed command returns its exit code and leaves a checkpoint. The script run has the commands
// that end by themselves.
func TestRunEnds(t *testing.T) {
	for _, c := range []struct {
		script string
		code   int
	}{
		{"kill -9 $$", 137},
		{"kill -15 $$", 143},
	} {
		t.Run(c.script, func(t *testing.T) {
			t.Parallel()
			p := protect(newVictim(t), c.script)
			assert.Equal(t, c.code, p.code())
			assert.Equal(t, []string{"session_end"}, p.triggers())
		})
	}
}

// If the program itself is killed, the checkpoint of the last interval can be resumed.
func TestRunParentKilled(t *testing.T) {
	t.Parallel()
	p := protect(newVictim(t), "echo one >work.txt; sleep 600; true", "--every", "50ms")
	p.until("an interval", func() bool { return strings.Contains(p.said.String(), "saved CP-") })
	require.NoError(t, p.cmd.Process.Kill())
	require.NoError(t, syscall.Kill(-p.child(), syscall.SIGKILL)) // it holds standard error open
	assert.Equal(t, -1, p.code())
	assert.Equal(t, []string{"interval"}, p.triggers(), "what has not changed is not saved again")
	require.NoError(t, os.Remove(p.path("work.txt")))
	p.tool("resume", "42", "--auto")
	data, err := os.ReadFile(p.path("work.txt"))
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(data))
	p.sound()
}

// A closed standard error does not prevent a save.
func TestRunWithClosedStandardError(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defaultSignals()
	cmd := v.command("git-checkpoint", "run", "42", "--", "sh", "-c", "echo $$ >../pid; echo >ready; sleep 600; true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = w
	require.NoError(t, cmd.Start())
	w.Close()
	p := &protected{victim: v, cmd: cmd}
	p.untilFile("ready")
	r.Close()
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	assert.Equal(t, 129, p.code())
	assert.Equal(t, []string{"user_interrupt"}, p.triggers())
	_, err = os.Stat(p.path(".git/git-checkpoint/lock/42.lock"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// A hanging remote delays neither the checkpoint of an interrupt nor the signal to the
// command.
func TestRunSignalWhileItPushes(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.git("init", "-q", "--bare", "../hub")
	v.git("remote", "add", "origin", "../hub")
	v.git("config", "checkpoint.publish-commits", "true")
	hang := v.path("../hang")
	require.NoError(t, os.WriteFile(hang, []byte("#!/bin/sh\necho >"+v.path("../hangs")+"\nexec sleep 600\n"), 0o777))
	v.git("config", "remote.origin.receivepack", hang)
	p := protect(v, "trap 'echo >../told; exit 9' TERM; echo >ready; while :; do sleep 0.02; done", "--push", "--every", "300ms")
	p.untilFile("../hangs")
	require.NoError(t, os.WriteFile(v.path("late.txt"), []byte("late\n"), 0o666))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.untilFile("../told")
	const late = "no answer within 15s" // the limit of the push that follows the signal
	assert.NotContains(t, p.said.String(), late)
	assert.Equal(t, "user_interrupt", p.triggers()[0])
	time.Sleep(300 * time.Millisecond) // an earlier one would count as a copy of the first
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM), "a second one ends the push")
	assert.Equal(t, 9, p.code())
	assert.NotContains(t, p.said.String(), late)
	assert.Contains(t, p.git("ls-tree", "-r", "--name-only", "refs/checkpoints/42"), "state/late.txt")
}
