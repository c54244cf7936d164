package commands

import (
	"os"

	"git-checkpoint/commands/hook"
)

// maxAncestors is how far up git is looked for: a hook manager may
// stand between.
const maxAncestors = 12

// startedBy looks for the git that started this process, in the nearest command
// line of which found says yes; nil where there is none, or it cannot be seen.
func startedBy(found func(argv []string) bool) []string {
	pid := os.Getppid()
	for range maxAncestors {
		argv, parent := process(pid)
		if argv == nil {
			return nil
		}
		if found(argv) {
			return argv
		}
		pid = parent
	}
	return nil
}

// dryPush reports whether the git push that this process was started by only
// pretends. Git does not tell its hooks; its command line does. Where that
// cannot be read it is taken for a real one.
func dryPush() bool {
	_, dry := hook.IsDryPush(startedBy(func(argv []string) bool {
		push, _ := hook.IsDryPush(argv)
		return push
	}))
	return dry
}

// onItsWay reports a git that checks out by itself, in the middle of something
// else: a rebase, a pull, a bisection.
func onItsWay() bool {
	name, _ := hook.GitCommand(startedBy(func(argv []string) bool {
		name, _ := hook.GitCommand(argv)
		return name != "" && name != "hook" && name != "checkpoint"
	}))
	return name != "" && name != "checkout" && name != "switch"
}
