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

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
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
