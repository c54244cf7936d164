package hook

import (
	"strings"
)

// Aside is the directory, next to a hook, for the original file that a wrapper calls. The
// file keeps its name in this directory, because many hooks inspect their own name.
const Aside = "before-git-checkpoint"

const shebang = "#!/bin/sh\n"

func open(e Event) string    { return "# >>> git-checkpoint " + string(e) + " >>>\n" }
func openNew(e Event) string { return "# >>> git-checkpoint " + string(e) + " file >>>\n" }
func closing(e Event) string { return "# <<< git-checkpoint " + string(e) + " <<<\n" }

// A Style describes how a hook file is executed.
type Style struct {
	Bare bool // executed by "sh -e FILE" regardless of its first line: husky 9 or later
}

// again returns the command that executes the hook file itself.
func (s Style) again() string {
	if s.Bare {
		return `sh -e "$0" "$@"`
	}
	return `"$0" "$@"`
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

// wrapped calls the original file by its own name, because the wrapper may be renamed.
func wrapped(e Event) string { return `exec "${0%/*}/` + Aside + "/" + string(e) + `" "$@"` + "\n" }

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
