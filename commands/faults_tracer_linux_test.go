//go:build amd64

package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A fault affects one system call of a command or its git processes.
type fault int

const (
	faultKill  fault = iota // SIGKILL for command and git processes, before the call
	faultEIO                // the call fails, later calls succeed
	faultSpace              // ENOSPC: this call and all later calls that need space fail
	faultFiles              // EMFILE: the call gets no file descriptor
	faultKinds
	faultAlone = faultKinds // SIGKILL for the command: the call and its git processes go on
)

func (f fault) String() string {
	return [...]string{"SIGKILL", "EIO", "ENOSPC", "EMFILE", "SIGKILL alone"}[f]
}

func (f fault) errno() int32 {
	return -int32([...]syscall.Errno{0, syscall.EIO, syscall.ENOSPC, syscall.EMFILE, 0}[f])
}

// Kinds of system calls, as bits.
const (
	callChanges = 1 << iota // changes a file or a name
	callSpace               // may need disk space
	callOpens               // returns a file descriptor
	callNamed               // has a path argument, otherwise a descriptor
	callAt                  // directory descriptor precedes the path
)

// A tracedCall is a system call that stops the tracer.
type tracedCall struct {
	name  string
	kind  int
	flags int // index of the flags argument of an open, or zero
}

var tracedNumbers = map[uint32]tracedCall{
	unix.SYS_OPEN:            {"open", callNamed, 1},
	unix.SYS_OPENAT:          {"openat", callNamed | callAt, 2},
	unix.SYS_CREAT:           {"creat", callNamed | callChanges | callSpace | callOpens, 0},
	unix.SYS_WRITE:           {"write", callChanges | callSpace, 0},
	unix.SYS_PWRITE64:        {"pwrite64", callChanges | callSpace, 0},
	unix.SYS_WRITEV:          {"writev", callChanges | callSpace, 0},
	unix.SYS_PWRITEV:         {"pwritev", callChanges | callSpace, 0},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", callChanges | callSpace, 0},
	unix.SYS_FALLOCATE:       {"fallocate", callChanges | callSpace, 0},
	unix.SYS_FTRUNCATE:       {"ftruncate", callChanges, 0},
	unix.SYS_TRUNCATE:        {"truncate", callChanges | callNamed, 0},
	unix.SYS_RENAME:          {"rename", callChanges | callSpace | callNamed, 0},
	unix.SYS_RENAMEAT:        {"renameat", callChanges | callSpace | callNamed | callAt, 0},
	unix.SYS_RENAMEAT2:       {"renameat2", callChanges | callSpace | callNamed | callAt, 0},
	unix.SYS_LINK:            {"link", callChanges | callSpace | callNamed, 0},
	unix.SYS_LINKAT:          {"linkat", callChanges | callSpace | callNamed | callAt, 0},
	unix.SYS_SYMLINK:         {"symlink", callChanges | callSpace | callNamed, 0},
	unix.SYS_SYMLINKAT:       {"symlinkat", callChanges | callSpace | callNamed, 0},
	unix.SYS_UNLINK:          {"unlink", callChanges | callNamed, 0},
	unix.SYS_UNLINKAT:        {"unlinkat", callChanges | callNamed | callAt, 0},
	unix.SYS_RMDIR:           {"rmdir", callChanges | callNamed, 0},
	unix.SYS_MKDIR:           {"mkdir", callChanges | callSpace | callNamed, 0},
	unix.SYS_MKDIRAT:         {"mkdirat", callChanges | callSpace | callNamed | callAt, 0},
	unix.SYS_FSYNC:           {"fsync", callChanges, 0},
	unix.SYS_FDATASYNC:       {"fdatasync", callChanges, 0},
	unix.SYS_SYNC_FILE_RANGE: {"sync_file_range", callChanges, 0},
	unix.SYS_CHMOD:           {"chmod", callChanges | callNamed, 0},
	unix.SYS_FCHMOD:          {"fchmod", callChanges, 0},
	unix.SYS_FCHMODAT:        {"fchmodat", callChanges | callNamed | callAt, 0},
	unix.SYS_UTIMENSAT:       {"utimensat", callChanges | callNamed | callAt, 0},
	unix.SYS_PIPE:            {"pipe", callOpens, 0},
	unix.SYS_PIPE2:           {"pipe2", callOpens, 0},
	unix.SYS_SOCKET:          {"socket", callOpens, 0},
	unix.SYS_SOCKETPAIR:      {"socketpair", callOpens, 0},
}

// creates are the open flags that change a file or a name.
const creates = unix.O_CREAT | unix.O_TRUNC

// A stop is a call at which a fault can be injected.
type stop struct {
	call, path string
}

func (s stop) String() string { return s.call + " " + s.path }

// A faultRun supervises the system calls of a command by seccomp user notifications. The
// kernel suspends each call until the supervisor continues or answers the call.
type faultRun struct {
	cmd    *exec.Cmd
	inside string // count only calls on files below this directory
	stdout string // the command's standard output
	stderr string
	fault  fault
	at     int            // stop of the fault, from one; zero for no fault
	first  *regexp.Regexp // if not nil, the fault is at the first stop with this text

	meanwhile func() // if not nil, runs while the call is suspended, instead of a fault

	stops    int
	hit      *stop // stop at which the fault was injected
	full     bool  // the disk is full
	listener int
	thread   int
	groups   map[int]bool // process groups of the command
}

// Structures of the kernel interface.
type (
	seccompNotice struct {
		ID, _ uint64 // pid and flags
		Nr    int32
		Arch  uint32
		IP    uint64
		Args  [6]uint64
	}
	seccompAnswer struct {
		ID    uint64
		Val   int64
		Error int32
		Flags uint32
	}
)

// canSupervise skips the test if the kernel lacks seccomp user notifications.
func canSupervise(t *testing.T) {
	t.Helper()
	r := &faultRun{cmd: exec.Command("true"), inside: "/nowhere"}
	if err := r.run(); err != nil {
		without(t, "seccomp's user notifications: "+err.Error())
	}
}

// filter returns the seccomp filter for the calls in tracedNumbers. An open is included
// if it creates a file, or if the fault is a lack of descriptors.
func (r *faultRun) filter() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	give := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	equal := func(v uint32, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: v, Jf: no}
	}
	program := []unix.SockFilter{load(0)}
	for nr, c := range tracedNumbers {
		switch {
		case c.flags != 0 && r.fault != faultFiles:
			program = append(program, equal(nr, 4), load(uint32(16+8*c.flags)),
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: creates, Jf: 1},
				give(unix.SECCOMP_RET_USER_NOTIF), give(unix.SECCOMP_RET_ALLOW))
		case nr == unix.SYS_PIPE2 && r.applies(c.kind):
			// During pipe2, the Go runtime cannot preempt the thread of a Go process. If
			// the call waits for the supervisor, a deadlock is possible: the supervisor
			// can wait for a garbage collection, which waits for that thread.
			program = append(program, equal(nr, 4), load(16+8),
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.O_CLOEXEC, Jt: 1},
				give(unix.SECCOMP_RET_USER_NOTIF), give(unix.SECCOMP_RET_ALLOW))
		case c.flags != 0 || r.applies(c.kind):
			program = append(program, equal(nr, 1), give(unix.SECCOMP_RET_USER_NOTIF))
		}
	}
	return append(program, give(unix.SECCOMP_RET_ALLOW))
}

func (r *faultRun) applies(kind int) bool {
	switch r.fault {
	case faultSpace:
		return kind&callSpace != 0
	case faultFiles:
		return kind&callOpens != 0
	}
	return kind&callChanges != 0
}

// run starts the command, supervises it until its end and closes its files.
func (r *faultRun) run() error {
	r.groups = map[int]bool{}
	started := make(chan error, 1)
	listening := make(chan int, 1)
	go onThread(func() {
		r.thread = unix.Gettid()
		fd, err := r.install()
		if err != nil {
			listening <- -1
			started <- err
			return
		}
		listening <- fd
		started <- r.cmd.Start()
	})
	r.listener = <-listening
	if r.listener < 0 {
		return <-started
	}
	defer unix.Close(r.listener)
	supervised := make(chan error, 1)
	go func() { supervised <- r.supervise() }()
	if err := <-started; err != nil {
		<-supervised
		return err
	}
	waited := make(chan struct{})
	go func() { _ = r.cmd.Wait(); close(waited) }()
	err := <-supervised
	<-waited
	return err
}

// onThread calls a function on a thread that ends afterwards, so that an installed filter
// ends too. The main thread never ends, so it is not used.
func onThread(call func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		call()
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); onThread(call) }()
	<-done
	runtime.UnlockOSThread()
}

func (r *faultRun) install() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	filter := r.filter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return -1, fmt.Errorf("seccomp: %w", errno)
	}
	return int(fd), nil
}

// supervise answers notifications until no process has the filter any more.
func (r *faultRun) supervise() error {
	killed := false
	for {
		poll := []unix.PollFd{{Fd: int32(r.listener), Events: unix.POLLIN}}
		timeout := -1
		if killed {
			r.kill()
			timeout = 5
		}
		if _, err := unix.Poll(poll, timeout); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		switch {
		case poll[0].Revents&unix.POLLIN != 0:
			var n seccompNotice
			if err := r.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
				continue // the process is gone
			}
			if killed {
				r.group(n.pid())
				continue
			}
			a := r.answer(&n)
			if a == nil {
				killed = true
				continue
			}
			_ = r.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(a))
		case poll[0].Revents&unix.POLLHUP != 0:
			return nil
		}
	}
}

func (n *seccompNotice) pid() int {
	return int(*(*uint32)(unsafe.Add(unsafe.Pointer(n), 8)))
}

func (r *faultRun) ioctl(request uint, p unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), uintptr(request), uintptr(p))
	if errno != 0 {
		return errno
	}
	return nil
}

// answer returns the answer to a notification, or nil to leave the call suspended.
func (r *faultRun) answer(n *seccompNotice) *seccompAnswer {
	goOn := &seccompAnswer{ID: n.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	pid := n.pid()
	if pid == r.thread {
		return goOn
	}
	r.group(pid)
	c, kind := r.callOf(n)
	path := r.pathOf(n, c, pid)
	if !r.counts(path, kind) {
		return goOn
	}
	failure := &seccompAnswer{ID: n.ID, Error: r.fault.errno()}
	if kind&callSpace != 0 && c.flags != 0 {
		if _, err := os.Lstat(path); err == nil {
			return goOn // the file exists, so the open needs no space
		}
	}
	if r.full && path != r.stdout {
		return failure
	}
	r.stops++
	here := stop{c.name, strings.TrimPrefix(path, r.inside+"/")}
	if r.stops != r.at && (r.hit != nil || r.first == nil || !r.first.MatchString(here.String())) {
		return goOn
	}
	r.hit = &here
	if r.meanwhile != nil {
		r.meanwhile()
		return goOn
	}
	switch r.fault {
	case faultKill:
		return nil
	case faultAlone:
		for leader := range r.groups {
			_ = unix.Kill(leader, unix.SIGKILL)
		}
		return goOn
	case faultSpace:
		r.full = path != r.stdout
	}
	return failure
}

// callOf returns the call and its kind, including the effect of open flags.
func (r *faultRun) callOf(n *seccompNotice) (tracedCall, int) {
	c := tracedNumbers[uint32(n.Nr)]
	kind := c.kind
	if c.flags != 0 {
		kind |= callOpens
		if n.Args[c.flags]&creates != 0 {
			kind |= callChanges
		}
		if n.Args[c.flags]&unix.O_CREAT != 0 && r.fault == faultSpace {
			kind |= callSpace
		}
	}
	return c, kind
}

func (r *faultRun) counts(path string, kind int) bool {
	if !r.applies(kind) || path == r.stderr && path != "" {
		return false
	}
	return r.fault == faultFiles && (path == "" || path == os.DevNull) || strings.HasPrefix(path, r.inside+"/")
}

// pathOf returns the file of a call, or "" if it has no path.
func (r *faultRun) pathOf(n *seccompNotice, c tracedCall, pid int) string {
	switch {
	case c.kind&callNamed == 0 && c.kind&callOpens != 0:
		return ""
	case c.kind&callNamed == 0:
		fd := n.Args[0]
		if c.name == "copy_file_range" {
			fd = n.Args[2]
		}
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, int32(fd)))
		return strings.TrimSuffix(path, " (deleted)")
	}
	dir, at := fmt.Sprintf("/proc/%d/cwd", pid), n.Args[0]
	switch {
	case c.name == "symlink":
		at = n.Args[1]
	case c.name == "symlinkat":
		at = n.Args[2]
	case c.kind&callAt != 0:
		at = n.Args[1]
		if fd := int32(n.Args[0]); fd != unix.AT_FDCWD {
			dir = fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
		}
	}
	name := readText(pid, at)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	base, _ := os.Readlink(dir)
	return filepath.Join(base, name)
}

// readText reads a C string from the memory of a process.
func readText(pid int, at uint64) string {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return ""
	}
	defer mem.Close()
	var text []byte
	for len(text) < unix.PathMax {
		// A read beyond a mapping fails, so no read crosses a page boundary.
		part := make([]byte, 4096-(at+uint64(len(text)))%4096)
		n, err := mem.ReadAt(part, int64(at)+int64(len(text)))
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(append(text, part[:end]...))
		}
		if err != nil {
			return ""
		}
		text = append(text, part[:n]...)
	}
	return ""
}

// group records the process group of a process.
func (r *faultRun) group(pid int) {
	if pgid, err := unix.Getpgid(pid); err == nil && pgid != unix.Getpgrp() {
		r.groups[pgid] = true
	}
}

func (r *faultRun) kill() {
	for pgid := range r.groups {
		_ = unix.Kill(-pgid, unix.SIGKILL)
	}
}
