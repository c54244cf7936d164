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

// Snippet is what to paste into a hook, where nothing is installed. Where the
// program is missing or breaks, the hook goes on.
func (e Event) Snippet() string {
	if e == PrePush {
		return "if command -v git-checkpoint >/dev/null 2>&1; then\n" +
			"\tgit_checkpoint_refs=$(cat)\n" +
			"\tgit_checkpoint_said=0\n" +
			"\tprintf %s \"$git_checkpoint_refs\" | git-checkpoint hook pre-push -- \"$@\" || git_checkpoint_said=$?\n" +
			"\tcase $git_checkpoint_said in 11|13) exit 1;; esac\n" +
			"\tif [ -z \"$git_checkpoint_refs\" ]; then exec </dev/null; else exec <<REFS\n$git_checkpoint_refs\nREFS\n\tfi\nfi\n"
	}
	return "if command -v git-checkpoint >/dev/null 2>&1; then git-checkpoint hook " + string(e) + " -- \"$@\" || :; fi\n"
}
