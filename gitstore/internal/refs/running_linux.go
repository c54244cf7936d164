package refs

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// unchangedFor is the time for which an incomplete lock file must be unchanged.
const unchangedFor = 300 * time.Millisecond

// GitRuns reports whether the repository has a running git that was started before a
// time. A git that was started later cannot own a lock file of that time.
func (d Dir) GitRuns(before time.Time) bool {
	dirs := d.worktrees()
	pids, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range pids {
		if p, ok := readProcess(proc); ok && p.isGit() && !p.started.After(before.Add(coarse)) && p.worksIn(dirs) {
			return true
		}
	}
	return false
}

// coarse is the combined resolution of file and process times.
const coarse = 20 * time.Millisecond

// A process describes an entry of /proc.
type process struct {
	proc    string
	parent  int
	name    string
	started time.Time
}

// readProcess parses /proc/<pid>/stat: "<pid> (<name>) <state> <parent> ...". Field 22 is
// the start time in ticks since boot.
func readProcess(proc string) (p process, ok bool) {
	data, err := os.ReadFile(filepath.Join(proc, "stat"))
	from, to := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if err != nil || from < 0 || to < from {
		return p, false
	}
	fields := strings.Fields(string(data[to+1:]))
	var boot unix.Timespec
	if len(fields) < 20 || fields[0] == "Z" || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return p, false
	}
	const tick = time.Second / 100
	ticks, err := strconv.ParseInt(fields[19], 10, 64)
	p = process{proc: proc, name: string(data[from+1 : to])}
	p.parent, _ = strconv.Atoi(fields[1])
	p.started = time.Now().Add(time.Duration(ticks)*tick - time.Duration(boot.Nano()))
	return p, err == nil
}

// isGit reports whether a process is a git that may lock refs. It excludes children of
// this process, which have exited before locks are checked, and the parent git.
func (p process) isGit() bool {
	if p.name != "git" && !strings.HasPrefix(p.name, "git-") || strings.HasPrefix(p.name, "git-checkpoint") {
		return false
	}
	if p.parent == os.Getpid() || filepath.Base(p.proc) == strconv.Itoa(os.Getppid()) {
		return false
	}
	data, _ := os.ReadFile(filepath.Join(p.proc, "cmdline"))
	return !slices.ContainsFunc(strings.Split(string(data), "\x00"), func(arg string) bool {
		return slices.Contains([]string{"fsmonitor--daemon", "credential-cache--daemon", "daemon", "cat-file"}, arg)
	})
}

// worksIn reports whether a process may work in one of the directories. If Linux denies
// access, worksIn returns true.
func (p process) worksIn(dirs []string) bool {
	at, err := os.Readlink(filepath.Join(p.proc, "cwd"))
	if err != nil {
		return !os.IsNotExist(err)
	}
	args, _ := os.ReadFile(filepath.Join(p.proc, "cmdline"))
	env, _ := os.ReadFile(filepath.Join(p.proc, "environ"))
	return slices.ContainsFunc(dirs, func(dir string) bool {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		return at == dir || strings.HasPrefix(at, dir+"/") || bytes.Contains(args, []byte(dir)) || bytes.Contains(env, []byte("="+dir))
	})
}
