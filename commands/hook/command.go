package hook

import (
	"regexp"
	"strings"
	"sync"
)

// calls is part of every command that runs one of this program's hooks, also
// of a command that a user has written around it.
const calls = "git-checkpoint hook "

// ownCommand matches the commands that this program has written into settings:
// today's text and those of earlier versions. A user's command that calls the
// program among other things does not match. A new text of Agent.Command must
// match too, so that install renews the older ones.
var ownCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:command -v git-checkpoint >/dev/null 2>&1 \|\| exit 0; )?git-checkpoint hook ([a-z-]+) ([a-z-]+)$`)
})

// isOwnCommand reports whether install wrote a command.
func isOwnCommand(command string) bool {
	m := ownCommand().FindStringSubmatch(command)
	return m != nil && AgentNamed(m[2]) != nil
}

// callsHook reports whether a command runs a hook of this program, whoever
// wrote it.
func callsHook(command string) bool { return strings.Contains(command, calls) }

// IsOwnConfigCommand reports whether install wrote the command of a hook in
// git's configuration, in this version or an earlier one.
func IsOwnConfigCommand(e Event, command string) bool {
	return strings.HasPrefix(command, "git_checkpoint() { git-checkpoint hook "+string(e)+` -- "$@"; `) &&
		strings.HasSuffix(command, " }; command -v git-checkpoint >/dev/null 2>&1 || exit 0; git_checkpoint")
}
