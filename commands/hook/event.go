package hook

// An Event is a hook of git's.
type Event string

// The events that are installed.
const (
	PrePush      Event = "pre-push"
	PostCheckout Event = "post-checkout"
)

// Events are the hooks that are installed, in the order in which they are
// told of.
func Events() []Event { return []Event{PrePush, PostCheckout} }

// ConfigName is the name of the event's hook in git's configuration.
func (e Event) ConfigName() string { return "git-checkpoint-" + string(e) }

// ConfigCommand is the command of a hook in git's configuration. Git appends
// the hook's arguments to it.
func (e Event) ConfigCommand() string {
	return "git_checkpoint() { git-checkpoint hook " + string(e) + ` -- "$@"; ` + e.verdict() +
		" }; command -v git-checkpoint >/dev/null 2>&1 || exit 0; git_checkpoint"
}

// verdict makes an exit status of what the program said. Only its own refusal
// stops git: not that it crashed, was killed or could not be started.
func (e Event) verdict() string {
	if e == PrePush {
		return "case $? in 11|13) exit 1;; esac; exit 0;"
	}
	return "exit 0;"
}

// Snippet is what to paste into a hook, where nothing is installed.
func (e Event) Snippet() string {
	if e == PrePush {
		return "if command -v git-checkpoint >/dev/null 2>&1; then\n" +
			"\tgit_checkpoint_refs=$(cat)\n" +
			"\tprintf '%s\\n' \"$git_checkpoint_refs\" | git-checkpoint hook pre-push -- \"$@\" || exit 1\n" +
			"\texec <<REFS\n$git_checkpoint_refs\nREFS\nfi\n"
	}
	return "command -v git-checkpoint >/dev/null 2>&1 && git-checkpoint hook " + string(e) + " -- \"$@\"\n"
}
