package commands

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	programs["refusing"] = func() {
		fmt.Fprintln(os.Stderr, "refusing:", refuse(os.Args[1], os.Args[2:]))
		os.Exit(1)
	}
}

// refusedCalls are the system calls behind a name in scripts.
var refusedCalls = map[string][]uint32{
	"chmod":     {unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2},
	"utimensat": {unix.SYS_UTIMENSAT},
	"flock":     {unix.SYS_FLOCK},
}

// refuse runs a command whose system calls fail: `refusing flock=ENOLCK git checkpoint save`.
func refuse(what string, command []string) error {
	name, text, _ := strings.Cut(what, "=")
	var errno unix.Errno
	for errno < 200 && unix.ErrnoName(errno) != text {
		errno++
	}
	calls := refusedCalls[name]
	if len(calls) == 0 || errno == 200 {
		return fmt.Errorf("unknown fault %q", what)
	}
	if name == "chmod" && runtime.GOARCH == "amd64" {
		calls = append(calls, 90)
	}
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call
	for _, nr := range calls {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the command keeps the filter of the thread
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return err
	}
	return unix.Exec(path, command, os.Environ())
}
