package commands

import (
	"os"

	"git-checkpoint/commands/hook"
)

// maxAncestors is how far up the git push is looked for: a hook manager may
// stand between.
const maxAncestors = 12

// dryPush reports whether the git push that this process was started by only
// pretends. Git does not tell its hooks; its command line does. Where that
// cannot be read it is taken for a real one.
func dryPush() bool {
	pid := os.Getppid()
	for range maxAncestors {
		argv, parent := process(pid)
		if argv == nil {
			return false
		}
		if push, dry := hook.IsDryPush(argv); push {
			return dry
		}
		pid = parent
	}
	return false
}
