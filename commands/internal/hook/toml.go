package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// In a TOML file, the hooks are tables at the end, between marks:
//
//	# >>> git-checkpoint >>>
//	[[hooks.SessionStart]]
//	[[hooks.SessionStart.hooks]]
//	...
//	# <<< git-checkpoint <<<
//
// "after a line without end" in the first mark means that install added a missing final
// newline.
//
// Other programs insert tables between the marks: Codex writes a new table before a final
// comment. Tables of install are therefore identified by their command at any position.
// The marks are merely two lines.
const (
	tomlOpen   = "# >>> git-checkpoint >>>"
	tomlOpenNL = "# >>> git-checkpoint, after a line without end >>>"
	tomlClose  = "# <<< git-checkpoint <<<"
)

// HasTOMLHooks reports whether a TOML file contains hooks as tables. Tables in
// hooks.state do not count: Codex records trusted hooks there, even if hooks are in
// another file.
func HasTOMLHooks(text string) (bool, error) {
	doc, err := parseTOML(text)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(doc.tables, func(t tomlTable) bool {
		return len(t.key) > 1 && t.key[0] == "hooks" && t.key[1] != "state" || len(t.key) == 1 && t.key[0] == "hooks"
	}), nil
}

// InstallTOML appends the agent's hooks to a TOML file. Events with a hook that calls
// this program are skipped, but older commands of install are renewed.
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

// addTOML inserts tables before the closing mark, or between new marks at the end.
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

// renewTOML replaces older commands of install.
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

// UninstallTOML removes tables of install and both marks. All other lines remain,
// including lines between the marks.
func (a *Agent) UninstallTOML(text string) (string, error) {
	if !strings.Contains(text, "git-checkpoint") {
		return text, nil // in this case invalid TOML is no error
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
		out = strings.TrimSuffix(strings.TrimSuffix(out, "\n"), "\r") // newline added by install
	}
	if _, err := parseTOML(out); err != nil {
		return "", fmt.Errorf("remove hooks: %w", err)
	}
	return out, nil
}

// InstalledTOML returns the agent's events with a hook in a TOML file.
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

// tomlMarks returns the lines of both marks; a missing mark is the zero span.
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
