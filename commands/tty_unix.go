//go:build unix

package commands

// ttyName is the controlling terminal.
const ttyName = "/dev/tty"
