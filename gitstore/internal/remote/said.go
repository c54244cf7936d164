package remote

import (
	"errors"
	"regexp"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// Reason returns the cause of a failed git connection in one line, without passwords.
func Reason(err error) string {
	var failed *git.CommandError
	if errors.As(err, &failed) && failed.Stderr != "" {
		return explain(failed.Stderr)
	}
	return err.Error()
}

// explain returns the first meaningful line of git's standard error. Git prints the cause
// first and general advice after it.
func explain(stderr string) string {
	for text := range strings.Lines(stderr) {
		for part := range strings.SplitSeq(text, "\r") {
			switch lower := strings.ToLower(strings.TrimSpace(part)); {
			case strings.HasPrefix(lower, "warning:"), strings.HasPrefix(lower, "hint:"),
				strings.HasPrefix(part, "Pseudo-terminal will not"), strings.HasPrefix(part, "From "), strings.HasPrefix(part, "To "):
				continue
			}
			if said, _ := message(part); said != "" {
				return said
			}
		}
	}
	return "git ended without a word"
}

// maxSaid limits a reason of several lines, in bytes.
const maxSaid = 300

// remoteSays returns the reason printed by the remote hook or server: lines marked as
// errors, otherwise the first line. Frames and progress are removed.
func remoteSays(stderr string) string {
	first, reason := "", ""
	for text := range strings.Lines(stderr) {
		for part := range strings.SplitSeq(text, "\r") {
			if !strings.HasPrefix(part, "remote:") {
				continue
			}
			said, marked := message(part)
			if first == "" {
				first = said
			}
			goesOn := marked || strings.HasSuffix(reason, ":")
			if goesOn && said != "" && len(reason)+len(said) < maxSaid {
				reason = sentence(reason, said)
			}
		}
	}
	if reason != "" {
		return reason
	}
	return first
}

// sentence appends a line to a text.
func sentence(text, line string) string {
	switch {
	case text == "":
		return line
	case strings.ContainsAny(text[len(text)-1:], ".:!?"):
		return text + " " + line
	}
	return text + "; " + line
}

var (
	// escapes matches terminal escape sequences.
	escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
	// progress matches progress lines, running or completed.
	progress = regexp.MustCompile(`\d% \(\d+/\d+\)|: +\d+%$|, done\.?$|^[A-Z][a-z ]+\.\.\.( done)?( \([^()]*\))*$`)
)

// repeated is the start of git's own line about a hook, which only repeats the reason.
const repeated = "error: hook declined to update "

// message returns a line of git's standard error without prefixes, and reports whether a
// prefix marks an error. It returns "" for frames and progress.
func message(line string) (text string, marked bool) {
	line = strings.TrimSpace(escapes.ReplaceAllString(line, ""))
	text = strings.TrimSpace(strings.TrimPrefix(line, "remote:"))
	if text != line && (progress.MatchString(text) || strings.HasPrefix(text, repeated)) || strings.Trim(text, "=-*#+~_|/\\ ") == "" {
		return "", false
	}
	for _, prefix := range []string{"fatal:", "error:"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return withoutPasswords(strings.TrimSpace(rest)), true
		}
	}
	return withoutPasswords(text), strings.HasPrefix(text, "ERROR:")
}
