package display

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/output"
)

// A TimelineEntry is one checkpoint in a timeline.
type TimelineEntry struct {
	ID, Short  string // stored id, and abbreviation for input
	Phase      string
	Trigger    string
	Age, Brief string // "2 hours ago" and "2h"
	Note       string // first line of the note
	Problem    string // reason that the checkpoint is unusable, or ""
	Filed      string // recorded reason for archiving, or ""

	Tip, Archived, Pinned, Resumable, Stale bool
}

// Thresholds of the screen width, in columns.
const (
	oneLine  = 72  // narrower: notes get separate lines
	roomy    = 100 // narrower: ages are abbreviated
	spacious = 120 // narrower: ids are abbreviated
	maxID    = 44  // longer ids get separate lines
)

// marks returns three characters, each with a fixed position: tip or archived; pinned;
// result of a resume.
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

// meanings returns marks and their meanings, in legend order.
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

// columns holds column widths of timeline lines.
type columns struct{ age, trigger, id int }

// Timeline renders checkpoints, newest first, grouped by phase. Legend explains the
// marks.
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

// Legend explains all marks in the timelines, or returns "" if they have no marks.
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

// tooMany is the number of checkpoints in a phase above which their cost exceeds their
// benefit.
const tooMany = 20

// phase writes the heading for leading entries with the same phase.
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

// maxID returns the maximum width of an id in the id column.
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

// explain writes the legend of used marks.
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

// pad appends spaces to clean text, up to n columns.
func pad(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-output.Width(text)))
}
