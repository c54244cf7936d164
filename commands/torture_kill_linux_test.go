package commands

import (
	"bytes"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"git-checkpoint/gitstore/testing/gittest"
)

// A killer runs a command many times and kills it with SIGKILL, at a random time after
// its first write. One time in five, the time counts from its start. If a run ends before
// the kill, its duration becomes the maximum wait. After each kill the maximum grows.
type killer struct {
	t            *testing.T
	times        int
	reached      map[string]int // number of runs by last stage
	write, start time.Duration  // maximum wait from the first write, and from the start
}

// Targets of the kill, in turns.
const (
	killProcess = iota // the process alone: its git processes continue
	killGroup          // its process group
	killTree           // all its descendants, as at the end of a container
	killKinds
)

func newKiller(t *testing.T, times int) *killer {
	return &killer{t: t, times: times, reached: map[string]int{}, write: 30 * time.Millisecond, start: 60 * time.Millisecond}
}

// A death is the result of a run with a kill.
type death struct {
	outcome
	kind  int
	wrote bool // it had started to write
}

// run starts a command and kills it.
func (k *killer) run(v *victim, i int, args ...string) death {
	k.t.Helper()
	cmd := v.command("git-checkpoint", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// A surviving git process holds the pipes open.
	cmd.WaitDelay = time.Millisecond
	w := watch(k.t, v.path(".git"))
	defer w.close()
	begin := time.Now()
	require.NoError(k.t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	d := death{kind: i % killKinds}
	limit := &k.start
	from := begin
	if i%5 != 4 {
		limit, d.wrote, from = &k.write, w.wait(ended), time.Now()
	}
	select {
	case <-ended:
		*limit = max(*limit/4, min(*limit, time.Since(from)))
	case <-time.After(rand.N(*limit)):
		*limit += *limit / 12
		kill(cmd, d.kind)
		<-ended
		v.later()
	}
	d.outcome = outcome{
		name: strings.Join(cmd.Args, " "), out: strings.TrimSpace(out.String()), err: strings.TrimSpace(errs.String()),
		code: cmd.ProcessState.ExitCode(), took: time.Since(begin),
	}
	return d
}

// killed reports whether the kill came before the command's end.
func (d death) killed() bool { return d.code == -1 }

func kill(cmd *exec.Cmd, kind int) {
	pid := cmd.Process.Pid
	switch kind {
	case killGroup:
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	case killTree:
		// Stopped first, so that it starts no further process.
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		for _, child := range children(pid) {
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
		fallthrough
	default:
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// children returns all descendants of a process.
func children(pid int) []int {
	var all []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		data, _ := os.ReadFile(task)
		for _, field := range strings.Fields(string(data)) {
			var child int
			if _, err := fmt.Sscan(field, &child); err == nil {
				all = append(append(all, child), children(child)...)
			}
		}
	}
	return all
}

// rounds yields the numbers of the runs. On a busy machine most runs can end before their
// kill. Then more runs follow, at most four times as many, until a fifth of the planned
// kills hit between the first write and the end.
func (k *killer) rounds() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < k.times || i < 4*k.times && k.between() < k.times/5; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// between returns the number of kills between the first write and the end.
func (k *killer) between() int {
	n := 0
	for stage, runs := range k.reached {
		if stage != "start" && stage != "ended" {
			n += runs
		}
	}
	return n
}

// report logs the stages of the kills. It fails unless enough kills hit between the first
// write and the end.
func (k *killer) report() {
	k.t.Helper()
	k.t.Logf("%d kills between the first write and the end: %v", k.between(), k.reached)
	require.GreaterOrEqual(k.t, k.between(), k.times/5)
}

// A watcher waits for the first new file in a directory tree.
type watcher struct{ fd int }

func watch(t *testing.T, dir string) *watcher {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		_, err = unix.InotifyAddWatch(fd, path, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ATTRIB|unix.IN_MODIFY)
		return err
	}))
	return &watcher{fd}
}

// wait reports whether a file was created before the command ended.
func (w *watcher) wait(ended <-chan struct{}) bool {
	var buf [64 * (unix.SizeofInotifyEvent + unix.NAME_MAX + 1)]byte
	for {
		n, _ := unix.Read(w.fd, buf[:])
		for at := 0; at < n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
			name := strings.TrimRight(string(buf[at+unix.SizeofInotifyEvent:at+unix.SizeofInotifyEvent+int(e.Len)]), "\x00")
			if name != "" && name != "git-checkpoint" && name != "lock" {
				return true
			}
			at += unix.SizeofInotifyEvent + int(e.Len)
		}
		select {
		case <-ended:
			return false
		case <-time.After(50 * time.Microsecond):
		}
	}
}

func (w *watcher) close() { _ = unix.Close(w.fd) }

// next fails unless a command succeeds without a wait: the old lock of a dead process neither
// blocks nor delays it.
func (v *victim) next(args ...string) string {
	v.t.Helper()
	o := v.try("git-checkpoint", args...)
	require.Zerof(v.t, o.code, "%s: exit %d: %s\nlocks: %v", o.name, o.code, o.err, v.locks())
	require.Falsef(v.t, v.waited(o), "%s waited: it took %v", o.name, o.took)
	return o.out
}

// lockWait is the time for which commands, and the git processes that they start, try to get a
// lock.
const lockWait = 10 * time.Second

// waited reports whether a command has waited for a lock, which takes it at least lockWait. On
// a busy machine, a command without a wait can take as long. Therefore a command that takes no
// lock runs too, and waited returns false if this command is slow.
func (v *victim) waited(o outcome) bool {
	return o.took > lockWait && v.try("git-checkpoint", "version").took < lockWait/20
}

// objects returns the number of files in the object store.
func (v *victim) objects() int {
	files, _ := filepath.Glob(v.path(".git/objects/*/*"))
	return len(files)
}

// A save that is killed at any time is either in the chain or absent. If it printed its
// id, it is in the chain. Its locks do not block other saves.
func TestTortureKillSave(t *testing.T) {
	gittest.SkipShort(t)
	t.Parallel()
	k := newKiller(t, dose(500))
	var v *victim
	var printed map[string]bool
	for i := range k.rounds() {
		if i%50 == 0 {
			v, printed = newVictim(t), map[string]bool{}
			printed[v.tool("save", "42")] = true
		}
		tip, objects := v.git("rev-parse", "refs/checkpoints/42"), v.objects()
		d := k.run(v, i, "save", "42", "-m", fmt.Sprintf("round %d", i))
		if d.out != "" {
			printed[d.out] = true
		}
		moved := v.git("rev-parse", "refs/checkpoints/42") != tip
		switch {
		case !d.killed():
			k.reached["ended"]++
		case d.out != "":
			k.reached["id printed"]++
		case moved:
			k.reached["ref moved"]++
		case v.objects() != objects:
			k.reached["objects"]++
		case d.wrote:
			k.reached["first write"]++
		default:
			k.reached["start"]++
		}
		printed[v.next("save", "42")] = true
		have := v.ids("42")
		for id := range printed {
			require.Contains(t, have, id)
		}
		require.Empty(t, v.locks())
		if i%4 == 0 { // sometimes, because damage persists
			v.write("a.txt", fmt.Sprintf("round %d\n", i))
			v.git("add", "a.txt")
			v.sound()
		}
	}
	v.sound()
	k.report()
}

// A killed prune has dropped either all checkpoints of its plan or no checkpoint.
func TestTortureKillPrune(t *testing.T) {
	gittest.SkipShort(t)
	t.Parallel()
	k := newKiller(t, dose(500))
	template := newVictim(t)
	for range 6 {
		template.tool("save", "42", "--trigger", "batch_complete", "--no-prune")
	}
	for range 10 {
		template.tool("save", "42", "--no-prune")
	}
	template.git("gc", "-q")
	before := template.ids("42")
	require.Len(t, before, 16)
	whole := template.copy(t)
	whole.tool("prune", "42")
	after := whole.ids("42")
	require.Len(t, after, 13)
	for i := range k.rounds() {
		v := template.copy(t)
		objects := v.objects()
		d := k.run(v, i, "prune", "42")
		have := v.ids("42")
		switch {
		case !d.killed():
			k.reached["ended"]++
		case len(have) == len(after):
			k.reached["ref moved"]++
		case v.objects() != objects:
			k.reached["objects"]++
		case d.wrote:
			k.reached["first write"]++
		default:
			k.reached["start"]++
		}
		if len(have) == len(after) {
			assert.Equal(t, after, have)
		} else {
			require.Equal(t, before, have)
		}
		v.tool("verify", "42")
		v.fsck()
		v.next("prune", "42")
		require.Empty(t, v.locks())
		require.NoError(t, os.RemoveAll(v.dir))
	}
	k.report()
}

// A restore that is killed at any time leaves every file complete, with the old or the
// new content. It can be continued, aborted, or followed by any other command.
func TestTortureKillRestore(t *testing.T) {
	gittest.SkipShort(t)
	t.Parallel()
	k := newKiller(t, dose(500))
	template, before, after := restoreTemplate(t)
	for i := range k.rounds() {
		v := template.copy(t)
		objects := v.objects()
		d := k.run(v, i, "restore", "42")
		have := v.files()
		stage := restoreStage(v, d, have, before, after)
		if stage == "first write" && v.objects() != objects {
			stage = "objects"
		}
		k.reached[stage]++
		for name := range union(before, after) {
			require.Containsf(t, []string{before[name], after[name]}, have[name], "%s is neither as it was nor as it will be", name)
		}
		if fmt.Sprint(have) != fmt.Sprint(before) && fmt.Sprint(have) != fmt.Sprint(after) {
			require.True(t, v.pending(), "some files are changed, and nothing tells how to go on")
		}
		v.recover(i, stage, before, after)
		v.sound()
		require.Emptyf(t, v.locks(), "after %s", stage)
		v.git("add", "-A")
		v.git("commit", "-q", "--allow-empty", "-m", "work goes on")
		require.NoError(t, os.RemoveAll(v.dir))
	}
	k.report()
}

// restoreTemplate returns a repository whose newest checkpoint changes, replaces, removes
// and adds files. It also returns the files before and after a restore.
func restoreTemplate(t *testing.T) (template *victim, before, after map[string]string) {
	v := newVictim(t)
	for i := range 12 {
		v.write(fmt.Sprintf("src/%d.txt", i), fmt.Sprintf("old %d\n", i))
	}
	v.git("add", "-A")
	v.git("commit", "-qm", "second")
	before = v.files()
	for i := range 8 {
		v.write(fmt.Sprintf("src/%d.txt", i), strings.Repeat(fmt.Sprintf("new %d\n", i), 200))
	}
	v.git("rm", "-q", "src/9.txt")
	v.write("new/a/b.txt", "new\n")
	require.NoError(t, os.Remove(v.path("src/8.txt")))
	require.NoError(t, os.Symlink("0.txt", v.path("src/8.txt")))
	v.git("add", "-A")
	after = v.files()
	v.tool("save", "42")
	v.git("reset", "-q", "--hard")
	v.git("gc", "-q")
	return v, before, after
}

// files returns the contents of the worktree's files by path.
func (v *victim) files() map[string]string {
	v.t.Helper()
	files := map[string]string{}
	require.NoError(v.t, filepath.WalkDir(v.dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		name, _ := filepath.Rel(v.dir, path)
		if d.Type()&os.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			files[name] = "-> " + target
			return err
		}
		data, err := os.ReadFile(path)
		files[name] = string(data)
		return err
	}))
	return files
}

func union(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for _, m := range []map[string]string{a, b} {
		for name := range m {
			all[name] = true
		}
	}
	return all
}

// operations lists the operations with their states.
var operations = []string{"for-each-ref", "--format=%(subject)", "refs/git-checkpoint/operations"}

// pending reports whether an operation is pending.
func (v *victim) pending() bool { return strings.Contains(v.git(operations...), ": pending") }

// restoreStage returns the stage that a killed restore reached.
func restoreStage(v *victim, d death, have, before, after map[string]string) string {
	pending := v.pending()
	changed := fmt.Sprint(have) != fmt.Sprint(before)
	switch {
	case !d.killed():
		return "ended"
	case pending && changed && fmt.Sprint(have) != fmt.Sprint(after):
		return "some files"
	case pending && changed:
		return "all files"
	case pending:
		return "entry"
	case changed:
		return "done"
	case d.wrote:
		return "first write"
	}
	return "start"
}

// recover continues after a kill, in one of the possible ways.
func (v *victim) recover(i int, stage string, before, after map[string]string) {
	v.t.Helper()
	want, pending := after, v.pending()
	switch {
	case pending && i%4 == 0:
		v.next("restore", "--continue")
	case pending && i%4 == 1:
		v.next("restore", "--abort")
		want = before
	case pending && i%4 == 2:
		v.next("save", "42")
		v.next("restore", "42", "latest~1")
	default:
		v.next("restore", "42")
	}
	require.Equalf(v.t, want, v.files(), "after %s", stage)
}
