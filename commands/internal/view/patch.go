package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/diff"

	"github.com/aymanbagabas/go-udiff"
)

// RecordChanges returns the changes between two records. The source bytes of an imported document are
// compared as fields of the document.
func RecordChanges(before, after *checkpoint.Record) []diff.FieldChange {
	return slices.DeleteFunc(diff.Records(before.Doc(), after.Doc()), func(c diff.FieldChange) bool {
		name, ok := strings.CutPrefix(c.Path, "layout.files.")
		return ok && strings.HasSuffix(name, ".text") && strings.Count(name, ".") == 1
	})
}

// Told returns the changes of a record without those of its id and times, and with files without
// those of the list of files: other parts of a comparison show them.
func Told(changes []diff.FieldChange, files bool) []diff.FieldChange {
	return slices.DeleteFunc(slices.Clone(changes), func(c diff.FieldChange) bool {
		return c.Path == "checkpoint_id" || c.Path == "created_at" || c.Path == "clock" || files && strings.HasPrefix(c.Path, "files_modified")
	})
}

// Record renders the changes of a record. A single-line change that fits takes one line.
// Lines are indented so that git apply ignores them as text.
func (s Screen) Record(changes []diff.FieldChange) string {
	var b strings.Builder
	for _, c := range changes {
		s.change(&b, c)
	}
	return b.String()
}

// Summary returns counts of changed fields by operation, or "nothing".
func Summary(changes []diff.FieldChange) string {
	counts := map[diff.Op]int{}
	for _, c := range changes {
		counts[c.Op]++
	}
	var parts []string
	for _, op := range []diff.Op{diff.Changed, diff.Added, diff.Removed, diff.Moved} {
		if n := counts[op]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, op))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// A Patch is a writer that prepares the output of git diff for a screen. It escapes
// control characters and colours lines by kind. Callers must Close it.
type Patch struct {
	screen Screen
	w      io.Writer
	rest   []byte // unterminated line
	hunk   bool   // current lines belong to a hunk
}

// Patch returns a Patch that writes to w.
func (s Screen) Patch(w io.Writer) *Patch { return &Patch{screen: s, w: w} }

// Write writes part of a diff.
func (p *Patch) Write(data []byte) (int, error) {
	for line := range bytes.Lines(data) {
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		if p.rest = append(p.rest, text...); ended {
			if err := p.flush("\n"); err != nil {
				return 0, err
			}
		}
	}
	return len(data), nil
}

// Close writes the buffered rest.
func (p *Patch) Close() error {
	if len(p.rest) == 0 {
		return nil
	}
	return p.flush("")
}

func (s Screen) change(b *strings.Builder, c diff.FieldChange) {
	const indent = 11
	name := s.fitEnd(Clean(c.Name), indent+len(":"))
	b.WriteString("  " + s.Paint(opStyles[c.Op], fmt.Sprintf("%-7s", c.Op)) + "  " + name)
	if old, now := text(c.Old), text(c.New); strings.Contains(old+now, "\n") {
		b.WriteString(":\n")
		for _, line := range unified(old, now) {
			b.WriteString("    " + s.Paint(lineStyle(line[0]), s.fit(Clean(line), 4)) + "\n")
		}
		return
	}
	said := said(c)
	if s.Width <= 0 || indent+Width(name)+2+Width(said) <= s.Width {
		b.WriteString(": " + said + "\n")
		return
	}
	b.WriteString(":\n")
	if c.Op == diff.Moved {
		b.WriteString("    " + s.fit(said, 4) + "\n")
		return
	}
	for _, side := range []struct {
		sign  string
		style Style
		value any
	}{{"- ", Red, c.Old}, {"+ ", Green, c.New}} {
		if side.value != nil || c.Op == diff.Changed {
			b.WriteString("    " + s.Paint(side.style, s.fit(side.sign+value(side.value), 4)) + "\n")
		}
	}
}

var opStyles = map[diff.Op]Style{diff.Added: Green, diff.Removed: Red, diff.Moved: Cyan, diff.Changed: Yellow}

// text returns a text, and "" for another value.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// unified returns the hunks of a diff of two texts. If only the final newline differs, the diff adds or
// removes an empty line.
func unified(old, now string) []string {
	if !strings.HasSuffix(old, "\n") || !strings.HasSuffix(now, "\n") {
		for _, text := range []*string{&old, &now} {
			if *text != "" {
				*text += "\n"
			}
		}
	}
	text, _ := udiff.ToUnified("", "", old, udiff.Lines(old, now), 3) // its own edits are valid
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")[2:]  // without the names of the files
	for i, line := range lines {
		if strings.HasPrefix(line, "@@") {
			lines[i] = onlyLine.ReplaceAllString(line, "$1,1 ")
		}
	}
	return lines
}

// onlyLine matches the place of a hunk of a single line, of which udiff leaves out the number of lines.
var onlyLine = regexp.MustCompile(`([-+]\d+) `)

// lineStyle returns a diff line's style by its first character.
func lineStyle(sign byte) Style {
	switch sign {
	case '+':
		return Green
	case '-':
		return Red
	case '@':
		return Cyan
	}
	return ""
}

// said renders a change on one line.
func said(c diff.FieldChange) string {
	switch c.Op {
	case diff.Added:
		return value(c.New)
	case diff.Removed:
		return value(c.Old)
	case diff.Moved:
		return "from place " + ordinal(c.Old) + " to " + ordinal(c.New)
	}
	return value(c.Old) + " -> " + value(c.New)
}

// value renders a value on one line: unambiguous text unchanged, other values as JSON.
func value(v any) string {
	s, ok := v.(string)
	if ok && s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s[:1], `"[{`) {
		if _, text := checkpoint.ParseValue(s).(string); text {
			return Clean(s)
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return Clean(string(data))
}

// ordinal converts a list index to a 1-based position.
func ordinal(v any) string {
	n, _ := v.(checkpoint.Number)
	k, _ := n.Int()
	return fmt.Sprint(k + 1)
}

// flush writes the buffered line, followed by end: a newline, or "" at the end of the diff. Lines
// before the first hunk describe the file. Hunk lines begin with a sign, a space or a backslash.
func (p *Patch) flush(end string) error {
	head, tail, style := string(p.rest), "", Bold
	switch {
	case strings.HasPrefix(head, "diff "):
		p.hunk = false
	case strings.HasPrefix(head, "@@"):
		p.hunk, style = true, Cyan
		if at := strings.Index(head[2:], "@@"); at >= 0 { // the header ends after its line numbers
			head, tail = head[:at+4], head[at+4:]
		}
	case p.hunk && head == "":
		style = ""
	case p.hunk:
		style = lineStyle(head[0])
	}
	_, err := io.WriteString(p.w, p.screen.Paint(style, CleanBlock(head))+CleanBlock(tail)+end)
	p.rest = p.rest[:0]
	return err
}
