package git

import (
	"cmp"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// NoQuestions returns environment variables that disable password prompts of git and ssh.
// Askpass programs configured by the user still run.
func NoQuestions(config []ConfigEntry) []string {
	env := []string{"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never"}
	command, _ := Last(config, "core.sshcommand")
	if command == "" && os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15")
	}
	return env
}

// NoStall returns environment variables that make git abort an HTTP transfer after 30
// seconds without data. It returns nil if the user configured another limit.
func NoStall(config []ConfigEntry) []string {
	limit, _ := Last(config, "http.lowspeedtime")
	if limit != "" || os.Getenv("GIT_HTTP_LOW_SPEED_TIME") != "" {
		return nil
	}
	return []string{"GIT_HTTP_LOW_SPEED_LIMIT=1", "GIT_HTTP_LOW_SPEED_TIME=30"}
}

// Reason returns the cause of a failed git connection in one line, without passwords.
func Reason(err error) string {
	var failed *CommandError
	if errors.As(err, &failed) && failed.Stderr != "" {
		return explain(failed.Stderr)
	}
	return err.Error()
}

func explain(stderr string) string { return Shortened(cause(stderr), MaxSaid) }

// cause returns the line of git's standard error that names the cause. Git and servers
// mark their errors. The errors of ssh are unmarked, and may follow a banner of the server:
// the last of them comes directly before git's general error.
func cause(stderr string) string {
	first, last := "", ""
	for text := range strings.Lines(stderr) {
		for part := range strings.SplitSeq(text, "\r") {
			said, marked := message(part)
			// A general error only means that the connection has ended, or that a helper or hook has failed.
			isGeneral := strings.HasPrefix(said, "Could not read from remote repository") || strings.HasPrefix(said, "the remote end hung up") ||
				strings.HasPrefix(said, "remote helper '") && strings.HasSuffix(said, "' aborted session") ||
				strings.Contains(said, "aborted by the reference-transaction hook") || strings.HasPrefix(said, "ref updates aborted by hook")
			switch {
			case said == "", isAside(part):
			case marked && isGeneral:
				return cmp.Or(last, said)
			case marked, strings.HasPrefix(part, "remote:"):
				return said
			default:
				first, last = cmp.Or(first, said), said
			}
		}
	}
	return cmp.Or(first, "git printed no error")
}

// isAside reports whether a line of git's standard error never names the cause. OpenSSH
// begins advice about the connection with "**".
func isAside(line string) bool {
	line = strings.TrimSpace(line)
	return slices.ContainsFunc([]string{
		"Warning:", "WARNING:", "warning:", "hint:", "**", "Pseudo-terminal will not", "Disconnected from ", "From ", "To ",
		"Connection closed by ", "Connection to ", "kex_exchange_identification: Connection closed",
	}, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
}

// MaxSaid limits a reason, in bytes.
const MaxSaid = 300

// Shortened returns the start of a text, and "..." if it has more than limit bytes.
func Shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}

// RemoteSays returns the reason printed by the remote hook or server: lines marked as
// errors, otherwise the first line. Frames and progress are removed.
func RemoteSays(stderr string) string {
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
			if goesOn && said != "" && len(reason)+len(said) < MaxSaid {
				reason = sentence(reason, said)
			}
		}
	}
	if reason != "" {
		return reason
	}
	return Shortened(first, MaxSaid)
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

// Compiled on first use, because most processes need neither.
var (
	// escapes matches terminal escape sequences.
	escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]") })
	// progress matches progress lines, running or completed.
	progress = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\d% \(\d+/\d+\)|: +\d+%$|, done\.?$|^[A-Z][a-z ]+\.\.\.( done)?( \([^()]*\))*$`)
	})
)

// repeated is the start of git's own line about a hook, which only repeats the reason.
const repeated = "error: hook declined to update "

// message returns a line of git's standard error without prefixes, and reports whether a
// prefix marks an error. It returns "" for frames and progress.
func message(line string) (text string, marked bool) {
	line = strings.TrimSpace(escapes().ReplaceAllString(line, ""))
	text = strings.TrimSpace(strings.TrimPrefix(line, "remote:"))
	if text != line && (progress().MatchString(text) || strings.HasPrefix(text, repeated)) || strings.Trim(text, "=-*#+~_|/\\ ") == "" {
		return "", false
	}
	for _, prefix := range []string{"fatal:", "error:"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return WithoutCredentials(strings.TrimSpace(rest)), true
		}
	}
	return WithoutCredentials(text), strings.HasPrefix(text, "ERROR:") || strings.HasPrefix(text, "FATAL:")
}

// userOf matches user and password of a URL, and queryOf its query and fragment, which end with the
// last quote: git quotes the URL, and a quote in the query does not end it. They are compiled on first
// use, because most processes print no URL.
var (
	userOf  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s'"?#]*@`) })
	queryOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://[^\s?#]*[?#])(?:\S*(['"][^\s'"]*)|\S+)`) })
)

// WithoutCredentials removes user and password from URLs in a text, and masks their queries
// and fragments, which can be tokens.
func WithoutCredentials(text string) string {
	return queryOf().ReplaceAllString(userOf().ReplaceAllString(text, "://"), "$1***$2")
}
