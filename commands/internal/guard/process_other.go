//go:build !unix

package guard

import (
	"os"
	"os/exec"
)

// Without process groups, Ctrl+C reaches the command directly, and termination means
// killing the process.

var terminate os.Signal = os.Kill

func watched() []os.Signal { return []os.Signal{os.Interrupt} }

func surviveClosedPipes() {}

func ownGroup(*exec.Cmd) {}

func (g *Guard) forward(os.Signal) {}

func (g *Guard) send(os.Signal) { _ = g.cmd.Process.Kill() }

func (g *Guard) kill() { _ = g.cmd.Process.Kill() }

func exitCodeOf(p *os.ProcessState) int { return p.ExitCode() }

func signalNumber(os.Signal) int { return 2 }
