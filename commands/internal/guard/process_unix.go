//go:build unix

package guard

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"git-checkpoint/commands/internal/terminal"
)

// Processes and signals.
//
// Without a controlling terminal, the command gets its own process group. A signal to
// this program's group then reaches only this program, which saves a checkpoint first.
// Afterwards this program forwards the signal to the command's whole group.
//
// With a controlling terminal, the command stays in this program's group, the shell's
// foreground group. Editors and pagers can therefore use the terminal, Ctrl+Z and `fg`
// work as usual, and the command does not count as a background process. Ctrl+C reaches
// both programs from the terminal. This program does not forward it, because many
// programs treat a second Ctrl+C as a forced exit.

const terminate = syscall.SIGTERM

// watched returns interrupting signals. Signals ignored at program start, for example by
// nohup, stay ignored.
func watched() []os.Signal {
	var list []os.Signal
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

// SurviveClosedPipes catches SIGPIPE. Otherwise a message to a closed standard output or error
// would end this program before a save, or before the end of a cleanup.
func SurviveClosedPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// launch starts the command.
func (g *Guard) launch() error {
	g.kill = func() { g.send(syscall.SIGKILL) }
	return g.cmd.Start()
}

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// forward sends s to the command unless the terminal has already sent it.
func (g *Guard) forward(s os.Signal) {
	typed := s == syscall.SIGINT || s == syscall.SIGQUIT
	if typed && !g.apart && terminal.InForeground() {
		return
	}
	g.send(s)
}

// send signals the command, or its whole process group if it has its own.
func (g *Guard) send(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok && g.apart {
		_ = syscall.Kill(-g.cmd.Process.Pid, number)
		return
	}
	_ = g.cmd.Process.Signal(s)
}

// exitCodeOf returns an exit code in shell convention.
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
