package view

import (
	"io"
	"strings"
	"sync"
)

// A CI runner reads the output of a job and obeys some of its lines:
//
//	::name key=value::text             GitHub, Gitea and Forgejo, after any white space
//	##[name]text                       GitHub and Azure Pipelines, anywhere in a line
//	##vso[name key=value]text          Azure Pipelines, anywhere in a line
//	##teamcity[name key='value']       TeamCity
//	section_start:time:name            GitLab, also section_end
//
// Texts of checkpoints can be those of other people. Each of these commands has a last
// character of its beginning: the second colon, the bracket, or the colon after the word.
// The functions of this file change that character, so that no text becomes a command.

// ForRunner returns a writer to the log of a job in which no line is a command of the CI
// runner: a space breaks its beginning, as in ": :name". Outside of a CI job, ForRunner
// returns w. All output of the program goes through it, because each text of a record can
// be such a line.
func ForRunner(w io.Writer, getenv func(string) string) io.Writer {
	for _, name := range []string{"CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION"} { // CI is set in most other runners
		if getenv(name) != "" {
			return &runnerLog{w: w}
		}
	}
	return w
}

// A runnerLog breaks commands in lines that are written in one or several parts.
type runnerLog struct {
	mu   sync.Mutex
	w    io.Writer
	line lineStart
}

// Write returns the number of bytes of p that were written, without inserted spaces.
func (l *runnerLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.line.breakCommands(string(p), func(last byte) string { return " " + string(last) })
	if n, err := io.WriteString(l.w, text); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// A lineStart describes the current line up to a byte. The zero value is an empty line.
type lineStart struct {
	colons int    // number of colons after white space, or -1 if the line has other text
	tail   string // end of the line, in lower case
}

// longestBeginning is the length of the longest beginning of a command that is matched.
const longestBeginning = len("##teamcity") + 8

// breakCommands returns text with the last character of each command's beginning replaced.
func (l *lineStart) breakCommands(text string, replace func(last byte) string) string {
	if !strings.ContainsAny(text, ":[") {
		l.add(text)
		return text
	}
	var b strings.Builder
	for from := 0; from < len(text); {
		at := strings.IndexAny(text[from:], ":[")
		if at < 0 {
			l.add(text[from:])
			b.WriteString(text[from:])
			break
		}
		at += from
		l.add(text[from:at])
		b.WriteString(text[from:at])
		if last := text[at]; l.begins(last) {
			b.WriteString(replace(last))
			l.colons = -1
		} else {
			b.WriteByte(last)
		}
		l.add(text[at : at+1])
		from = at + 1
	}
	return b.String()
}

// begins reports whether a runner reads a command if c follows the line.
func (l *lineStart) begins(c byte) bool {
	if c == ':' {
		return l.colons == 1 || strings.HasSuffix(l.tail, "section_start") || strings.HasSuffix(l.tail, "section_end")
	}
	name := strings.TrimRight(l.tail, "abcdefghijklmnopqrstuvwxyz")
	return strings.HasSuffix(name, "##")
}

// add appends text to the line, which starts again after a line end. Characters beyond
// ASCII count as white space, because some are.
func (l *lineStart) add(text string) {
	if at := strings.LastIndexAny(text, "\r\n"); at >= 0 {
		*l, text = lineStart{}, text[at+1:]
	}
	for i := 0; i < len(text) && l.colons >= 0; i++ {
		switch c := text[i]; {
		case c == ':':
			l.colons++
		case c > ' ' && c < 0x7f, l.colons > 0:
			l.colons = -1
		}
	}
	l.tail += strings.ToLower(text[max(0, len(text)-longestBeginning):])
	l.tail = l.tail[max(0, len(l.tail)-longestBeginning):]
}
