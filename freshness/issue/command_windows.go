package issue

import (
	"os/exec"

	"git-checkpoint/gitstore/fsutil/processtree"
)

// startTree starts cmd, and kills it with its child processes on cancellation.
func startTree(cmd *exec.Cmd) error {
	var tree *processtree.Tree
	started := make(chan struct{})
	cmd.Cancel = func() error {
		<-started
		return tree.Kill()
	}
	tree, err := processtree.Start(cmd)
	close(started)
	return err
}
