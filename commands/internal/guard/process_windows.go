package guard

import (
	"os"
	"os/exec"

	"git-checkpoint/gitstore/fsutil/processtree"
)

// The console sends Ctrl+C to the command directly. A program cannot be asked to terminate,
// so termination means killing the command and its child processes.

var terminate os.Signal = os.Kill

func watched() []os.Signal { return []os.Signal{os.Interrupt} }

func surviveClosedPipes() {}

func ownGroup(*exec.Cmd) {}

type tree = *processtree.Tree

func (g *Guard) launch() (err error) {
	g.tree, err = processtree.Start(g.cmd)
	return err
}

func (g *Guard) forward(os.Signal) {}

func (g *Guard) send(os.Signal) { _ = g.tree.Kill() }

func (g *Guard) kill() { _ = g.tree.Kill() }

func exitCodeOf(p *os.ProcessState) int { return p.ExitCode() }

func signalNumber(os.Signal) int { return 2 }
