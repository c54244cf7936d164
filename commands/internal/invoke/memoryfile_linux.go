package invoke

import (
	"os"

	"golang.org/x/sys/unix"
)

// memoryFile returns a file in memory.
func memoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("git-checkpoint-input", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "git-checkpoint-input"), nil
}
