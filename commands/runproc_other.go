//go:build !unix

package commands

import (
	"os"
	"os/exec"
)

// Where there are no process groups, Ctrl+C reaches the command by itself, and
// ending it means killing it.

var terminate os.Signal = os.Kill

func watched() []os.Signal { return []os.Signal{os.Interrupt} }

func surviveClosedPipes() {}

func hasTerminal() bool { return true }

func ownGroup(*exec.Cmd) {}

func (g *guard) forward(os.Signal) {}

func (g *guard) send(os.Signal) { _ = g.cmd.Process.Kill() }

func (g *guard) kill() { _ = g.cmd.Process.Kill() }

func (g *guard) ownsScreen() bool { return false }

func exitCodeOf(p *os.ProcessState) int { return p.ExitCode() }

func signalNumber(os.Signal) int { return 2 }
