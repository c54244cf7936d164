//go:build unix

package guard

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"git-checkpoint/commands/terminal"
)

// Processes and signals.
//
// Without a controlling terminal the command gets a process group of its own.
// What is sent to this program's group does not reach it then, so that the
// checkpoint comes first; afterwards the whole group of the command is told.
//
// With one, the command stays in this program's group, which the shell has put
// into the foreground: an editor or a pager can use the terminal, Ctrl+Z and
// `fg` work as ever, and nobody takes the command for one in the background.
// Ctrl+C then reaches both from the terminal. It is not passed on, since many
// programs take a second one for "at once".

const terminate = syscall.SIGTERM

// watched are the signals that mean an interrupt. One that was ignored when
// the program started, as by nohup, stays ignored.
func watched() []os.Signal {
	var list []os.Signal
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

// surviveClosedPipes keeps a message on a standard error that nobody reads any
// more from ending this program before the checkpoint is saved.
func surviveClosedPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// forward passes a signal on, unless the command has it already.
func (g *Guard) forward(s os.Signal) {
	typed := s == syscall.SIGINT || s == syscall.SIGQUIT
	if typed && !g.apart && terminal.InForeground() {
		return
	}
	g.send(s)
}

// send signals the command, and with a group of its own all that it started.
func (g *Guard) send(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok && g.apart {
		_ = syscall.Kill(-g.cmd.Process.Pid, number)
		return
	}
	_ = g.cmd.Process.Signal(s)
}

func (g *Guard) kill() { g.send(syscall.SIGKILL) }

// exitCodeOf is an exit code as shells have it.
func exitCodeOf(p *os.ProcessState) int {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.ExitCode()
}

func signalNumber(s os.Signal) int {
	number, _ := s.(syscall.Signal)
	return int(number)
}
