package commands

import "golang.org/x/sys/unix"

// ownsScreen reports whether the command has the terminal for itself, as an
// editor or a pager does: it reads keys, not lines. Ctrl+C is one of its keys
// then, however often it is typed.
func (g *guard) ownsScreen() bool {
	return !g.apart && onTerminal(func(fd int) bool {
		mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		return err == nil && mode.Lflag&unix.ICANON == 0
	})
}
