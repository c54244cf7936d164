package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
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
// this program are skipped.
func (a *Agent) InstallTOML(text string) (string, error) {
	doc, err := parseTOML(text)
	if err != nil {
		return "", err
	}
	if at := doc.inlineHooks; at >= 0 {
		return "", syntaxError(errors.New("hooks is not written as tables"), text, at)
	}
	var missing []AgentEvent
	for _, e := range a.Events {
		if !doc.hasEvent(e.Name, e.isCalled) {
			missing = append(missing, e)
		}
	}
	if len(missing) == 0 {
		return text, nil
	}
	var tables strings.Builder
	for _, e := range missing {
		fmt.Fprintf(&tables, "[[hooks.%s]]\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = '%s'\ntimeout = %d\n", e.Name, e.Name, a.command(e), e.Timeout)
	}
	return addTOML(text, tables.String()), nil
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
		if doc.hasEvent(e.Name, e.isCalled) {
			events = append(events, e.Name)
		}
	}
	return events
}

var errTOML = errors.New("not valid TOML")

// parseTOML parses a document. Errors contain line and column.
func parseTOML(text string) (*tomlDoc, error) {
	body := strings.TrimPrefix(text, byteOrderMark)
	skipped := len(text) - len(body)
	doc := &tomlDoc{text: text, inlineHooks: -1}
	p := &unstable.Parser{KeepComments: true}
	p.Reset([]byte(body))
	r := &tomlReader{doc: doc, skipped: skipped}
	for p.NextExpression() {
		r.expression(p.Expression())
	}
	r.closeLines(len(text))
	if err := p.Error(); err != nil {
		var at *unstable.ParserError
		if errors.As(err, &at) && len(at.Highlight) > 0 {
			return nil, syntaxError(fmt.Errorf("%w: %s", errTOML, at.Message), text, skipped+int(p.Range(at.Highlight).Offset))
		}
		return nil, syntaxError(errTOML, text, len(text))
	}
	return doc, nil
}

// A tomlDoc holds the parts of a TOML document that are relevant to hooks.
type tomlDoc struct {
	text        string
	tables      []tomlTable
	inlineHooks int // offset of a top-level key "hooks", or -1
}

// A tomlTable is a TOML table: its header, keys and their lines.
type tomlTable struct {
	key     []string
	lines   []tomlSpan
	command string // value of key "command"
}

// A tomlSpan is a byte range.
type tomlSpan struct{ from, to int }

// A tomlReader builds a tomlDoc from the parser's expressions.
type tomlReader struct {
	doc     *tomlDoc
	skipped int  // bytes before the parsed text
	open    bool // last line range of the last table may continue
}

func (r *tomlReader) expression(e *unstable.Node) {
	switch e.Kind {
	case unstable.Table, unstable.ArrayTable:
		keys, at := r.keys(e)
		r.closeLines(at)
		r.doc.tables = append(r.doc.tables, tomlTable{key: keys})
		r.openLine(at)
	case unstable.KeyValue:
		keys, at := r.keys(e)
		r.closeLines(at)
		if len(r.doc.tables) == 0 {
			if keys[0] == "hooks" && r.doc.inlineHooks < 0 {
				r.doc.inlineHooks = at
			}
			return
		}
		t := &r.doc.tables[len(r.doc.tables)-1]
		if v := e.Value(); len(keys) == 1 && keys[0] == "command" && v.Kind == unstable.String {
			t.command = string(v.Data)
		}
		r.openLine(at)
	case unstable.Comment:
		at := r.skipped + int(e.Raw.Offset)
		if strings.TrimSpace(r.doc.text[lineStart(r.doc.text, at):at]) == "" {
			r.closeLines(at) // comment on a separate line
		}
	}
}

// keys returns the parts of a dotted key and the key's offset.
func (r *tomlReader) keys(e *unstable.Node) (parts []string, at int) {
	for k := e.Key(); k.Next(); {
		if len(parts) == 0 {
			at = r.skipped + int(k.Node().Raw.Offset)
		}
		parts = append(parts, string(k.Node().Data))
	}
	return parts, at
}

// closeLines ends the open range before an offset, without trailing blank lines.
func (r *tomlReader) closeLines(at int) {
	if !r.open {
		return
	}
	r.open = false
	lines := r.doc.tables[len(r.doc.tables)-1].lines
	last := &lines[len(lines)-1]
	end := len(r.doc.text)
	if at < end {
		end = lineStart(r.doc.text, at)
	}
	used := strings.TrimRight(r.doc.text[last.from:end], " \t\r\n")
	last.to = min(end, last.from+len(used)+upTo(r.doc.text[last.from+len(used):], "\n")+1)
}

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// openLine starts the line range of a header or key in the last table. A comment inside
// an array may close the range early.
func (r *tomlReader) openLine(at int) {
	t := &r.doc.tables[len(r.doc.tables)-1]
	t.lines = append(t.lines, tomlSpan{lineStart(r.doc.text, at), -1})
	r.open = true
}

// hasEvent reports whether an event has a hook with an accepted command.
func (d *tomlDoc) hasEvent(event string, accept func(string) bool) bool {
	return slices.ContainsFunc(d.tables, func(t tomlTable) bool {
		return slices.Equal(t.key, []string{"hooks", event, "hooks"}) && accept(t.command)
	})
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

// ownLines returns the lines of hooks written by install, and of groups without other
// hooks.
func (d *tomlDoc) ownLines() []tomlSpan {
	var cut []tomlSpan
	groups := map[string][]int{} // per event: index of the open group, then of its hooks
	flush := func(event string) {
		members := groups[event]
		delete(groups, event)
		own := 0
		for _, i := range members[min(1, len(members)):] {
			if isOwnCommand(d.tables[i].command) {
				cut = append(cut, d.tables[i].lines...)
				own++
			}
		}
		if own > 0 && own == len(members)-1 && len(d.tables[members[0]].key) == 2 {
			cut = append(cut, d.tables[members[0]].lines...)
		}
	}
	for i, t := range d.tables {
		if len(t.key) < 2 || t.key[0] != "hooks" {
			continue
		}
		if len(t.key) == 2 {
			flush(t.key[1])
		}
		groups[t.key[1]] = append(groups[t.key[1]], i)
	}
	for event := range groups {
		flush(event)
	}
	return cut
}
