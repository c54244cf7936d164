package hook

import (
	"fmt"
	"strings"
)

// In a TOML file the hooks are tables at its end, between marks:
//
//	# >>> git-checkpoint >>>
//	[[hooks.SessionStart]]
//	[[hooks.SessionStart.hooks]]
//	...
//	# <<< git-checkpoint <<<
//
// "after a line without end" in the first mark says that the file had no
// newline at its end, and one was added.
const (
	tomlOpen   = "# >>> git-checkpoint >>>\n"
	tomlOpenNL = "# >>> git-checkpoint, after a line without end >>>\n"
	tomlClose  = "# <<< git-checkpoint <<<\n"
)

// HasTOMLHooks reports whether hooks are kept in a TOML file, as tables.
func HasTOMLHooks(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimSpace(line), " ", "")
		if strings.HasPrefix(line, "[hooks]") || strings.HasPrefix(line, "[hooks.") || strings.HasPrefix(line, "[[hooks.") {
			return true
		}
	}
	return false
}

// InstallTOML adds the agent's hooks at the end of a TOML file.
func (a *Agent) InstallTOML(text string) string {
	if _, _, _, found := tomlSpan(text); found {
		return text
	}
	begin := tomlOpen
	if text != "" && !strings.HasSuffix(text, "\n") {
		begin = "\n" + tomlOpenNL
	}
	var b strings.Builder
	for _, e := range a.Events {
		fmt.Fprintf(&b, "[[hooks.%s]]\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = '%s'\ntimeout = %d\n", e.Name, e.Name, a.Command(e), e.Timeout)
	}
	return text + begin + b.String() + tomlClose
}

// UninstallTOML takes them out again.
func (a *Agent) UninstallTOML(text string) string {
	from, to, bare, found := tomlSpan(text)
	if !found {
		return text
	}
	if bare && to == len(text) {
		from-- // the newline that was added
	}
	return text[:from] + text[to:]
}

// InstalledTOML lists the agent's events that a TOML file has hooks for.
func (a *Agent) InstalledTOML(text string) []string {
	from, to, _, found := tomlSpan(text)
	if !found {
		return nil
	}
	var events []string
	for _, e := range a.Events {
		if strings.Contains(text[from:to], "[[hooks."+e.Name+"]]\n") {
			events = append(events, e.Name)
		}
	}
	return events
}

func tomlSpan(text string) (from, to int, bare, found bool) {
	begin := tomlOpen
	if from = lineAt(text, begin); from < 0 {
		begin, bare = tomlOpenNL, true
		from = lineAt(text, begin)
	}
	if from < 0 {
		return 0, 0, false, false
	}
	end := lineAt(text[from:], tomlClose)
	if end < 0 {
		return 0, 0, false, false
	}
	return from, from + end + len(tomlClose), bare, true
}
