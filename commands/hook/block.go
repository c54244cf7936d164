package hook

import (
	"strings"
)

// Aside is the folder beside a hook where the file is kept that a wrapper
// calls. It keeps its name there: many hooks look at what they are called.
const Aside = "before-git-checkpoint"

const shebang = "#!/bin/sh\n"

func open(e Event) string    { return "# >>> git-checkpoint " + string(e) + " >>>\n" }
func openNew(e Event) string { return "# >>> git-checkpoint " + string(e) + " file >>>\n" }
func closing(e Event) string { return "# <<< git-checkpoint " + string(e) + " <<<\n" }

// A Style says how a hook file is run.
type Style struct {
	Bare bool // by "sh -e FILE", whatever its first line: husky from version 9
}

// again is the command that runs the file itself.
func (s Style) again() string {
	if s.Bare {
		return `sh -e "$0" "$@"`
	}
	return `"$0" "$@"`
}

// block is the text between the marks, and the marks.
func block(e Event, s Style, begin string) string {
	return begin +
		"# What stands below runs first. To take this out: git checkpoint hooks uninstall\n" +
		`if [ "${git_checkpoint_below-}" != "$PWD $0" ] && command -v git-checkpoint >/dev/null 2>&1; then` + "\n" +
		body(e, s) +
		"fi\n" + closing(e)
}

// body runs the rest of the file and then this program. The list of refs that
// pre-push has on standard input is for both. A canary is not for the rest.
func body(e Event, s Style) string {
	if e == PrePush {
		// A hook that leaves before it has read the list is no failure, in a
		// shell with pipefail either.
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

// File is a hook file that holds nothing but the block.
func File(e Event, s Style) string {
	if s.Bare {
		return block(e, s, openNew(e))
	}
	return shebang + block(e, s, openNew(e))
}

// Wrapper is a hook file that calls the one that was moved aside.
func Wrapper(e Event) string {
	return shebang + block(e, Style{}, openNew(e)) + wrapped(e)
}

// wrapped calls the file by its own name: the one in its place may be renamed.
func wrapped(e Event) string { return `exec "${0%/*}/` + Aside + "/" + string(e) + `" "$@"` + "\n" }

// Insert puts the block into the text of a hook file that a shell runs.
func Insert(text string, e Event, s Style) string {
	first := ""
	if strings.HasPrefix(text, "#!") {
		first = text[:strings.IndexByte(text, '\n')+1]
	}
	return first + block(e, s, open(e)) + text[len(first):]
}

// A Block is what a file has of the block.
type Block int

// What a file can have.
const (
	Absent Block = iota
	Whole        // as this program writes it
	Edited       // between its marks something else stands
)

// Find says what a file has of the block. One that another version wrote
// counts as edited.
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

// OnTop reports whether the block is the first thing in the file that runs.
func OnTop(text string, e Event) bool {
	from, to, _ := span(text, e)
	return to >= 0 && (from == 0 || strings.HasPrefix(text, "#!") && strings.IndexByte(text, '\n')+1 == from)
}

// Remove takes the block out. gone says that nothing is left of a file that
// was made for it. Without the closing mark it takes nothing out.
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

// span finds the block: from its first mark, to the end of the last; -1 where
// a mark is missing.
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

// lineAt is where a whole line stands, -1 for nowhere.
func lineAt(text, line string) int {
	if strings.HasPrefix(text, line) {
		return 0
	}
	if i := strings.Index(text, "\n"+line); i >= 0 {
		return i + 1
	}
	return -1
}
