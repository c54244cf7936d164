//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import "golang.org/x/sys/unix"

// ReadsKeys reports whether a program reads single keys instead of lines, as editors and
// pagers do. Such a program controls the terminal, and repeated Ctrl+C is ordinary input.
func ReadsKeys() bool {
	return ask(func(fd int) bool {
		mode, err := unix.IoctlGetTermios(fd, unix.TIOCGETA)
		return err == nil && mode.Lflag&unix.ICANON == 0
	})
}
