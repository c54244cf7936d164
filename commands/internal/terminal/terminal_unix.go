//go:build unix

package terminal

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Has reports whether this process has a controlling terminal.
func Has() bool { return ask(func(int) bool { return true }) }

// InForeground reports whether Ctrl+C reaches this program's process group.
func InForeground() bool {
	return ask(func(fd int) bool {
		group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err == nil && group == syscall.Getpgrp()
	})
}

// ask returns the result of question for the controlling terminal, or false without a
// terminal.
func ask(question func(fd int) bool) bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	return question(int(tty.Fd()))
}
