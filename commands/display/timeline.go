package display

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/output"
)

// A TimelineEntry is one checkpoint of a timeline.
type TimelineEntry struct {
	ID, Short  string // as it is stored, and as people may type it
	Phase      string
	Trigger    string
	Age, Brief string // "2 hours ago" and "2h"
	Note       string // its first line
	Problem    string // why it cannot be used, "" where it can
	Filed      string // why it went to the archive, "" where nobody noted it

	Tip, Archived, Pinned, Resumable, Stale bool
}

// What fits on screens of some width.
const (
	oneLine  = 72  // and below it the note stands on a line of its own
	roomy    = 100 // and below it ages are brief
	spacious = 120 // and below it ids are short
	maxID    = 44  // a longer one stands on a line of its own
)

// marks are three letters, each with its place: tip or archived; pinned; what a
// resume would make of it.
func (e *TimelineEntry) marks() string {
	m := []byte("   ")
	switch {
	case e.Archived:
		m[0] = 'a'
	case e.Tip:
		m[0] = '*'
	}
	if e.Pinned {
		m[1] = 'p'
	}
	switch {
	case e.Problem != "":
		m[2] = '!'
	case e.Resumable && e.Stale:
		m[2] = 's'
	case e.Resumable:
		m[2] = 'r'
	}
	return string(m)
}

// meanings are the marks in the order in which they are explained.
func meanings() [][2]string {
	return [][2]string{
		{"*", "tip"},
		{"a", "archived"},
		{"p", "pinned"},
		{"r", "resumable"},
		{"s", "resumable but stale"},
		{"!", "not usable"},
	}
}

func (e *TimelineEntry) style() Style {
	switch {
	case e.Problem != "":
		return Red
	case e.Stale:
		return Yellow
	case e.Tip:
		return Green
	}
	return ""
}

// columns are the widths of what stands in a line.
type columns struct{ age, trigger, id int }

// Timeline lays out checkpoints, newest first, under the phases that they are
// of. Legend explains its marks.
func (s Screen) Timeline(entries []TimelineEntry) string {
	var b strings.Builder
	w := s.columns(entries)
	for i := range entries {
		e := &entries[i]
		if i == 0 || e.Phase != entries[i-1].Phase {
			s.phase(&b, entries[i:])
		}
		s.entry(&b, e, w)
	}
	return b.String()
}

// Legend explains the marks that occur in timelines, "" where there are none.
func (s Screen) Legend(timelines ...[]TimelineEntry) string {
	used := ""
	for _, entries := range timelines {
		for i := range entries {
			used += entries[i].marks()
		}
	}
	var b strings.Builder
	s.explain(&b, used)
	return b.String()
}

// tooMany is how many checkpoints of a phase cost more than they save.
const tooMany = 20

// phase heads the entries that follow and are of one phase.
func (s Screen) phase(b *strings.Builder, entries []TimelineEntry) {
	n := 1
	for n < len(entries) && entries[n].Phase == entries[0].Phase {
		n++
	}
	name, many := "(no phase)", ""
	if entries[0].Phase != "" {
		name = output.Clean(entries[0].Phase)
	}
	if n > tooMany {
		many = fmt.Sprintf(": %d, 5 to 10 would do", n)
	}
	b.WriteString(s.Paint(Bold, s.fit(name, len(many))) + s.Paint(Yellow, s.fit(many, 0)) + "\n")
}

func (s Screen) age(e *TimelineEntry) string {
	if s.Width > 0 && s.Width < roomy {
		return output.Clean(e.Brief)
	}
	return output.Clean(e.Age)
}

func (s Screen) id(e *TimelineEntry) string {
	if s.Width > 0 && s.Width < spacious {
		return output.Clean(e.Short)
	}
	return output.Clean(e.ID)
}

// columns finds the widths that all lines keep to.
func (s Screen) columns(entries []TimelineEntry) columns {
	var w columns
	for i := range entries {
		e := &entries[i]
		w.age = max(w.age, output.Width(s.age(e)))
		w.trigger = max(w.trigger, min(output.Width(output.Clean(e.Trigger)), 17))
		if n := output.Width(s.id(e)); n <= s.maxID() {
			w.id = max(w.id, n)
		}
	}
	return w
}

// maxID is how wide an id may be that others are lined up with.
func (s Screen) maxID() int {
	if s.Width > 0 && s.Width < oneLine {
		return 8
	}
	return maxID
}

func (s Screen) entry(b *strings.Builder, e *TimelineEntry, w columns) {
	const indent = "  "
	id, more := s.id(e), ""
	if output.Width(id) > s.maxID() {
		id, more = "", id
	}
	text := pad(output.Truncate(output.Clean(e.Trigger), w.trigger), w.trigger)
	line := indent + e.marks() + "  " + pad(s.age(e), w.age) + "  " + text + "  " + pad(id, w.id)
	note := output.Clean(e.Note)
	for _, remark := range []string{e.Problem, e.Filed} {
		if remark != "" {
			note = strings.TrimSpace("(" + output.Clean(remark) + ") " + note)
		}
	}
	below := s.Width > 0 && s.Width < oneLine
	if room := output.Width(line) + 2; note != "" && !below {
		line, note = line+"  "+s.fit(note, room), ""
	}
	b.WriteString(s.Paint(e.style(), s.fit(strings.TrimRight(line, " "), 0)) + "\n")
	const deeper = "       "
	if more != "" {
		for _, part := range wrap(more, s.Width-len(deeper)) {
			b.WriteString(deeper + part + "\n")
		}
	}
	if note != "" {
		b.WriteString(deeper + s.fit(note, len(deeper)) + "\n")
	}
}

// explain says what the marks mean that were used.
func (s Screen) explain(b *strings.Builder, used string) {
	var parts []string
	for _, m := range meanings() {
		if strings.Contains(used, m[0]) {
			parts = append(parts, m[0]+" "+m[1])
		}
	}
	if len(parts) == 0 {
		return
	}
	line := parts[0]
	b.WriteString("\n")
	for _, part := range parts[1:] {
		if s.Width > 0 && len(line)+2+len(part) > s.Width {
			b.WriteString(s.Paint(Dim, line) + "\n")
			line = part
			continue
		}
		line += ", " + part
	}
	b.WriteString(s.Paint(Dim, line) + "\n")
}

// pad fills clean text up with spaces to n columns.
func pad(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-output.Width(text)))
}
