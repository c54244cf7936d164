package hooks

import (
	"os"

	"git-checkpoint/commands/internal/hook"
)

// maxAncestors limits the search for the git process, because a hook manager may run
// between git and this process.
const maxAncestors = 12

// startedBy returns the command line of the nearest ancestor process for which found
// returns true. It returns nil if there is none or if a process cannot be inspected.
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

// dryPush reports whether this process was started by `git push --dry-run`. Git does not
// pass the flag to hooks, so its command line is read. If the command line cannot be
// read, the push counts as real.
func dryPush() bool {
	_, dry := hook.IsDryPush(startedBy(func(argv []string) bool {
		push, _ := hook.IsDryPush(argv)
		return push
	}))
	return dry
}

// onItsWay reports whether an ancestor git command runs the checkout as one of its steps:
// a rebase, a pull or a bisection.
func onItsWay() bool {
	name, _ := hook.GitCommand(startedBy(func(argv []string) bool {
		name, _ := hook.GitCommand(argv)
		return name != "" && name != "hook" && name != "checkpoint"
	}))
	return name != "" && name != "checkout" && name != "switch"
}
