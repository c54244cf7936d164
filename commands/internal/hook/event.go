package hook

// An Event is one of git's hooks.
type Event string

// Installed events.
const (
	PrePush      Event = "pre-push"
	PostCheckout Event = "post-checkout"
)

// Events returns the installed hooks, in display order.
func Events() []Event { return []Event{PrePush, PostCheckout} }

// ConfigName returns the hook's name in git's configuration.
func (e Event) ConfigName() string { return "git-checkpoint-" + string(e) }

// ConfigCommand returns the hook's command in git's configuration. Git appends the hook's
// arguments.
func (e Event) ConfigCommand() string {
	return "git_checkpoint() { git-checkpoint hook " + string(e) + ` -- "$@"; ` + e.verdict() +
		" }; command -v git-checkpoint >/dev/null 2>&1 || exit 0; git_checkpoint"
}

// verdict converts this program's exit status to the hook's exit status. Only exit codes
// for a refusal stop git; a crash, a kill or a failed start does not.
func (e Event) verdict() string {
	if e == PrePush {
		return "case $? in 11|13) exit 1;; esac; exit 0;"
	}
	return "exit 0;"
}

// Snippet returns shell code for manual insertion into a hook. If git-checkpoint is
// missing or fails, the hook continues.
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
