package terminal

import "golang.org/x/sys/unix"

// ReadsKeys reports whether a program has the terminal for itself, as an editor
// or a pager does: it reads keys, not lines. Ctrl+C is one of its keys then,
// however often it is typed.
func ReadsKeys() bool {
	return ask(func(fd int) bool {
		mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		return err == nil && mode.Lflag&unix.ICANON == 0
	})
}
