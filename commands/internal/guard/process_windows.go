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

// SurviveClosedPipes does nothing: there is no SIGPIPE.
func SurviveClosedPipes() {}

func ownGroup(*exec.Cmd) {}

// launch starts the command in a job object.
func (g *Guard) launch() error {
	tree, err := processtree.Start(g.cmd)
	g.kill = func() { _ = tree.Kill() }
	return err
}

func (g *Guard) forward(os.Signal) {}

func (g *Guard) send(os.Signal) { g.kill() }

func exitCodeOf(p *os.ProcessState) int { return p.ExitCode() }

func signalNumber(os.Signal) int { return 2 }
