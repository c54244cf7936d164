package hook

import (
	"errors"
	"fmt"
	"slices"
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
//
// Other programs put their own tables between the marks: Codex writes a new
// table before a comment that ends the file. So the tables are ours by their
// command, wherever they stand, and the marks are only two lines.
const (
	tomlOpen   = "# >>> git-checkpoint >>>"
	tomlOpenNL = "# >>> git-checkpoint, after a line without end >>>"
	tomlClose  = "# <<< git-checkpoint <<<"
)

// HasTOMLHooks reports whether hooks are kept in a TOML file, as tables. Codex
// records in hooks.state which hooks the user trusts, wherever they are kept.
func HasTOMLHooks(text string) (bool, error) {
	doc, err := parseTOML(text)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(doc.tables, func(t tomlTable) bool {
		return len(t.key) > 1 && t.key[0] == "hooks" && t.key[1] != "state" || len(t.key) == 1 && t.key[0] == "hooks"
	}), nil
}

// InstallTOML adds the agent's hooks at the end of a TOML file. Events that
// have a hook which calls this program are left alone, but for an older command
// of ours.
func (a *Agent) InstallTOML(text string) (string, error) {
	doc, err := parseTOML(text)
	if err != nil {
		return "", err
	}
	if at := doc.inlineHooks; at >= 0 {
		return "", syntaxError(errors.New("hooks is not written as tables"), text, at)
	}
	text = a.renewTOML(doc)
	var missing []AgentEvent
	for _, e := range a.Events {
		if !doc.hasEvent(e.Name, callsHook) {
			missing = append(missing, e)
		}
	}
	if len(missing) == 0 {
		return text, nil
	}
	return addTOML(text, a.tables(missing)), nil
}

func (a *Agent) tables(events []AgentEvent) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "[[hooks.%s]]\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = '%s'\ntimeout = %d\n", e.Name, e.Name, a.Command(e), e.Timeout)
	}
	return b.String()
}

// addTOML puts tables before the closing mark, or between new marks at the end.
func addTOML(text, tables string) string {
	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	tables = strings.ReplaceAll(tables, "\n", end)
	if open, closing := tomlMarks(text); open.to > 0 && closing.from >= open.to {
		return text[:closing.from] + tables + text[closing.from:]
	}
	begin := tomlOpen + end
	if text != "" && !strings.HasSuffix(text, "\n") {
		begin = end + tomlOpenNL + end
	}
	return text + begin + tables + tomlClose + end
}

// renewTOML replaces older commands of ours.
func (a *Agent) renewTOML(doc *tomlDoc) string {
	text := doc.text
	for i := len(doc.tables) - 1; i >= 0; i-- {
		t := doc.tables[i]
		event, isHook := t.hookEvent()
		if !isHook || !isOwnCommand(t.command) {
			continue
		}
		for _, e := range a.Events {
			if e.Name == event && t.command != a.Command(e) {
				text = text[:t.value.from] + "'" + a.Command(e) + "'" + text[t.value.to:]
			}
		}
	}
	return text
}

// UninstallTOML takes our tables out, with the marks. All other lines stay,
// also those that stand between the marks.
func (a *Agent) UninstallTOML(text string) (string, error) {
	if !strings.Contains(text, "git-checkpoint") {
		return text, nil // an invalid file is no concern of an uninstall then
	}
	doc, err := parseTOML(text)
	if err != nil {
		return "", err
	}
	cut := doc.ownLines()
	open, closing := tomlMarks(text)
	if len(cut) == 0 && open.to == 0 && closing.to == 0 {
		return text, nil
	}
	cut = append(cut, open, closing)
	var rest strings.Builder
	at := 0
	slices.SortFunc(cut, func(a, b tomlSpan) int { return a.from - b.from })
	for _, c := range cut {
		if c.to > at {
			rest.WriteString(text[at:c.from])
			at = c.to
		}
	}
	out := rest.String() + text[at:]
	if open.to > 0 && strings.HasPrefix(text[open.from:], tomlOpenNL) && len(out) == open.from {
		out = strings.TrimSuffix(strings.TrimSuffix(out, "\n"), "\r") // the newline that was added
	}
	if _, err := parseTOML(out); err != nil {
		return "", fmt.Errorf("remove hooks: %w", err)
	}
	return out, nil
}

// InstalledTOML lists the agent's events that a TOML file has hooks for.
func (a *Agent) InstalledTOML(text string) []string {
	doc, err := parseTOML(text)
	if err != nil {
		return nil
	}
	var events []string
	for _, e := range a.Events {
		if doc.hasEvent(e.Name, callsHook) {
			events = append(events, e.Name)
		}
	}
	return events
}

// tomlMarks finds the lines of the two marks; the zero span stands for none.
func tomlMarks(text string) (open, closing tomlSpan) {
	at := 0
	for line := range strings.Lines(text) {
		span := tomlSpan{at, at + len(line)}
		at += len(line)
		switch strings.TrimSpace(line) {
		case tomlOpen, tomlOpenNL:
			if open.to == 0 {
				open = span
			}
		case tomlClose:
			closing = span
		}
	}
	return open, closing
}
