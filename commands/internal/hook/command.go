package hook

import (
	"regexp"
	"strings"
	"sync"
)

// calls occurs in each command that runs a hook of this program, including commands that
// users have extended.
const calls = "git-checkpoint hook "

// ownCommand matches commands that this program writes to settings, in current and
// earlier versions. User commands that contain further calls do not match. A new text of
// Agent.Command must match too, so that a later install renews it.
var ownCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:command -v git-checkpoint >/dev/null 2>&1 \|\| exit 0; )?git-checkpoint hook ([a-z-]+) ([a-z-]+)$`)
})

// isOwnCommand reports whether install wrote the command.
func isOwnCommand(command string) bool {
	m := ownCommand().FindStringSubmatch(command)
	return m != nil && AgentNamed(m[2]) != nil
}

// callsHook reports whether a command of any author runs a hook of this program.
func callsHook(command string) bool { return strings.Contains(command, calls) }

// IsOwnConfigCommand reports whether install, in this or an earlier version, wrote the
// command of a hook in git's configuration.
func IsOwnConfigCommand(e Event, command string) bool {
	return strings.HasPrefix(command, "git_checkpoint() { git-checkpoint hook "+string(e)+` -- "$@"; `) &&
		strings.HasSuffix(command, " }; command -v git-checkpoint >/dev/null 2>&1 || exit 0; git_checkpoint")
}
