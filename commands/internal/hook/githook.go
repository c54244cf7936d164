// Package hook implements the protocols of git's hooks and the format of hook files and
// agents' settings. All functions are pure transformations of text.
//
// In a hook file that a shell runs, this program adds a block between two marks, below
// the interpreter line:
//
//	#!/bin/sh
//	# >>> git-checkpoint pre-push >>>
//	...
//	# <<< git-checkpoint pre-push <<<
//	original content
//
// The block first runs the original content in a separate process, which may exit, exec
// or fail. Removal of the block restores the original file byte for byte. The word "file"
// in the first mark means that the file was created for the block and is removed with it.
//
// A non-shell file or a symlink is moved to the directory Aside, and a wrapper in its
// place calls it.
package hook

import (
	"path"
	"slices"
	"strings"
)

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
	verdict := "exit 0;"
	if e == PrePush { // only exit codes for a refusal stop git; a crash, a kill or a failed start does not
		verdict = "case $? in 11|13) exit 1;; esac; exit 0;"
	}
	return "git_checkpoint() { git-checkpoint hook " + string(e) + ` -- "$@"; ` + verdict +
		" }; command -v git-checkpoint >/dev/null 2>&1 || exit 0; git_checkpoint"
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

// Aside is the directory, next to a hook, for the original file that a wrapper calls. The
// file keeps its name in this directory, because many hooks inspect their own name.
const Aside = "before-git-checkpoint"

// A Style describes how a hook file is executed.
type Style struct {
	Bare bool // executed by "sh -e FILE" regardless of its first line: husky 9 or later
}

const shebang = "#!/bin/sh\n"

// File returns a hook file that contains only the block.
func File(e Event, s Style) string {
	if s.Bare {
		return block(e, s, openNew(e))
	}
	return shebang + block(e, s, openNew(e))
}

// Wrapper returns a hook file that calls the original file in Aside.
func Wrapper(e Event) string {
	return shebang + block(e, Style{}, openNew(e)) + wrapped(e)
}

// Insert inserts the block into the text of a shell hook file.
func Insert(text string, e Event, s Style) string {
	first := ""
	if strings.HasPrefix(text, "#!") {
		first = text[:strings.IndexByte(text, '\n')+1]
	}
	return first + block(e, s, open(e)) + text[len(first):]
}

// A Block is the state of the block in a file.
type Block int

// States of the block.
const (
	Absent Block = iota
	Whole        // exactly as written by this program
	Edited       // different text between its marks
)

// Find returns the state of the block in a file. A block from another version counts as
// Edited.
func Find(text string, e Event) Block {
	from, to, _ := span(text, e)
	if from < 0 {
		return Absent
	}
	for _, s := range []Style{{}, {Bare: true}} {
		for _, begin := range []string{open(e), openNew(e)} {
			if to >= 0 && text[from:to] == block(e, s, begin) {
				return Whole
			}
		}
	}
	return Edited
}

// OnTop reports whether the block is the first executed text in the file.
func OnTop(text string, e Event) bool {
	from, to, _ := span(text, e)
	return to >= 0 && (from == 0 || strings.HasPrefix(text, "#!") && strings.IndexByte(text, '\n')+1 == from)
}

// Remove removes the block. gone reports that the file was created for the block and is
// now empty. Text without a closing mark is returned unchanged.
func Remove(text string, e Event) (rest string, gone bool) {
	from, to, made := span(text, e)
	if to < 0 {
		return text, false
	}
	rest = text[:from] + text[to:]
	if made && (rest == "" || rest == shebang || rest == shebang+wrapped(e)) {
		return "", true
	}
	return rest, false
}

var shells = []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "sh.exe", "bash.exe"}

// IsShell reports whether a shell runs the hook file, so that a block can be inserted.
// Git runs a file without an interpreter line with sh.
func IsShell(text string, s Style) bool {
	if strings.IndexByte(text, 0) >= 0 {
		return false
	}
	line, _, ended := strings.Cut(text, "\n")
	command, named := strings.CutPrefix(line, "#!")
	if s.Bare {
		return !named || ended
	}
	if !named {
		return true
	}
	return ended && !strings.HasSuffix(line, "\r") && slices.Contains(shells, interpreter(command))
}

// Manager returns the tool that generated a hook file and may regenerate it, or "".
func Manager(text string) string {
	for _, m := range [][2]string{
		{"LEFTHOOK", "lefthook"},
		{"File generated by pre-commit", "pre-commit"},
		{"git lfs ", "git-lfs"},
		{"husky", "husky"},
		{"overcommit", "overcommit"},
	} {
		if strings.Contains(text, m[0]) {
			return m[1]
		}
	}
	return ""
}

// block returns the block with its marks.
func block(e Event, s Style, begin string) string {
	return begin +
		"# What stands below runs first. To take this out: git checkpoint hooks uninstall\n" +
		`if [ "${git_checkpoint_below-}" != "$PWD $0" ] && command -v git-checkpoint >/dev/null 2>&1; then` + "\n" +
		body(e, s) +
		"fi\n" + closing(e)
}

// body runs the rest of the file and then this program. Both read pre-push's list of refs
// from standard input. A canary skips the rest of the file.
func body(e Event, s Style) string {
	if e == PrePush {
		// A hook can exit before it has read the whole list. This is no failure, even
		// with pipefail.
		list := "( trap '' PIPE; printf %s \"${git_checkpoint_refs%.}\" 2>/dev/null || : ) |\n"
		return "\tgit_checkpoint_refs=$(cat && echo .)\n" +
			"\tif [ -z \"${GIT_CHECKPOINT_CANARY-}\" ]; then\n" +
			"\t\t" + list +
			"\t\t\t( git_checkpoint_below=\"$PWD $0\"; export git_checkpoint_below; " + s.again() + " ) || exit\n" +
			"\tfi\n" +
			"\tgit_checkpoint_said=0\n" +
			"\t" + list +
			"\t\tgit-checkpoint hook " + string(e) + " -- \"$@\" || git_checkpoint_said=$?\n" +
			"\tcase $git_checkpoint_said in 11|13) exit 1;; esac\n" +
			"\texit 0\n"
	}
	return "\tgit_checkpoint_said=0\n" +
		"\tif [ -z \"${GIT_CHECKPOINT_CANARY-}\" ]; then\n" +
		"\t\t( git_checkpoint_below=\"$PWD $0\"; export git_checkpoint_below; " + s.again() + " ) || git_checkpoint_said=$?\n" +
		"\tfi\n" +
		"\tgit-checkpoint hook " + string(e) + " -- \"$@\" || :\n" +
		"\texit $git_checkpoint_said\n"
}

// again returns the command that executes the hook file itself.
func (s Style) again() string {
	if s.Bare {
		return `sh -e "$0" "$@"`
	}
	return `"$0" "$@"`
}

func closing(e Event) string { return "# <<< git-checkpoint " + string(e) + " <<<\n" }

func openNew(e Event) string { return "# >>> git-checkpoint " + string(e) + " file >>>\n" }

// wrapped calls the original file by its own name, because the wrapper may be renamed.
func wrapped(e Event) string { return `exec "${0%/*}/` + Aside + "/" + string(e) + `" "$@"` + "\n" }

func open(e Event) string { return "# >>> git-checkpoint " + string(e) + " >>>\n" }

// span returns the block's byte range, including both marks. A missing mark has offset
// -1.
func span(text string, e Event) (from, to int, made bool) {
	from = lineAt(text, open(e))
	if made = from < 0; made {
		from = lineAt(text, openNew(e))
	}
	if from < 0 {
		return -1, -1, false
	}
	end := lineAt(text[from:], closing(e))
	if end < 0 {
		return from, -1, made
	}
	return from, from + end + len(closing(e)), made
}

// lineAt returns the offset of a complete line in text, or -1.
func lineAt(text, line string) int {
	if strings.HasPrefix(text, line) {
		return 0
	}
	if i := strings.Index(text, "\n"+line); i >= 0 {
		return i + 1
	}
	return -1
}

// interpreter returns the program name in an interpreter line, skipping env and its
// flags.
func interpreter(command string) string {
	words := strings.Fields(command)
	if len(words) == 0 {
		return ""
	}
	name := path.Base(words[0])
	if name == "busybox" && len(words) > 1 {
		return words[1]
	}
	if name != "env" {
		return name
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			return path.Base(w)
		}
	}
	return ""
}

// isOwnCommand reports whether install wrote the command. User commands that contain further
// calls do not match.
func isOwnCommand(command string) bool {
	return slices.ContainsFunc(agents, func(a Agent) bool {
		return slices.ContainsFunc(a.Events, func(e AgentEvent) bool { return a.command(e) == command })
	})
}

// calls occurs in each command that runs a hook of this program, including commands that
// users have extended.
const calls = "git-checkpoint hook "
