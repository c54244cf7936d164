//go:build unix

package terminal

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Has reports whether there is a controlling terminal.
func Has() bool { return ask(func(int) bool { return true }) }

// InForeground reports whether Ctrl+C reaches this program's group.
func InForeground() bool {
	return ask(func(fd int) bool {
		group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err == nil && group == syscall.Getpgrp()
	})
}

// ask asks the controlling terminal, false without one.
func ask(question func(fd int) bool) bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	return question(int(tty.Fd()))
}
