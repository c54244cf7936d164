package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A timelineLine is an entry as the terminal shows it.
type timelineLine struct {
	id         string // abbreviated id for input
	phase      string
	age, brief string // "2 hours ago" and "2h"
	title      string
	change     string // changed files and lines, and the tokens of a turn, or ""
	marks      string
	style      Style
}

func lineOf(e *Entry, now time.Time) timelineLine {
	cp := e.Checkpoint
	title := e.Title
	switch {
	case cp.Trigger == "" && e.Problem != "":
		title = "" // the problem says more
	case cp.Omitted > 0 && e.Run == 0:
		title = "files left out: " + title
	}
	title += ByText(e.By)
	if e.Session != "" {
		title += ", session " + SessionName(e.Session, e.Agent)
	}
	title = Clean(title)
	for _, remark := range []string{e.Problem, DoubleText(cp), ArchivedAs(cp)} {
		if remark != "" {
			title = strings.TrimSpace("(" + Clean(remark) + ") " + title)
		}
	}
	return timelineLine{
		id: Clean(cmp.Or(cp.ID.Short(), cp.Commit.String()[:12])), phase: cp.Phase, title: title,
		change: strings.Trim(ChangedFiles(e.Change)+", "+TokensText(checkpoint.SumOf(e.Usage)), ", "),
		age:    Ago(cp.Created, now), brief: Briefly(cp.Created, now), marks: e.marks(), style: e.style(),
	}
}

// Thresholds of the screen width, in columns.
const (
	oneLine  = 72  // narrower: titles get separate lines
	roomy    = 100 // narrower: ages are abbreviated
	maxID    = 44  // longer ids get separate lines
	maxTitle = 72  // wider titles do not move the changes of other checkpoints
)

// marks returns three characters, each with a fixed position: tip or archived; pinned;
// result of a resume.
func (e *Entry) marks() string {
	m := []byte("   ")
	switch {
	case e.Checkpoint.Archived:
		m[0] = 'a'
	case e.Tip:
		m[0] = '*'
	}
	if e.Checkpoint.Pinned {
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

func (e *Entry) style() Style {
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
type columns struct{ age, id, title int }

// Timeline renders entries, newest first, grouped by phase. Legend explains the marks.
func (s Screen) Timeline(entries []Entry, now time.Time) string {
	lines := make([]timelineLine, len(entries))
	for i := range entries {
		lines[i] = lineOf(&entries[i], now)
	}
	var b strings.Builder
	w := s.columns(lines)
	for i := range lines {
		if i == 0 || lines[i].phase != lines[i-1].phase {
			name := "(no phase)"
			if lines[i].phase != "" {
				name = Clean(lines[i].phase)
			}
			b.WriteString(s.Paint(Bold, s.fit(name, 0)) + "\n")
		}
		s.line(&b, &lines[i], w)
	}
	return b.String()
}

// Legend explains all marks in the timelines, or returns "" if they have no marks.
func (s Screen) Legend(timelines ...[]Entry) string {
	used := ""
	for _, entries := range timelines {
		for i := range entries {
			used += entries[i].marks()
		}
	}
	var parts []string
	for _, m := range [][2]string{{"*", "tip"}, {"a", "archived"}, {"p", "pinned"}, {"r", "resumable"}, {"s", "resumable but stale"}, {"!", "not usable"}} {
		if strings.Contains(used, m[0]) {
			parts = append(parts, m[0]+" "+m[1])
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text, line := "\n", parts[0]
	for _, part := range parts[1:] {
		if s.Width > 0 && len(line)+2+len(part) > s.Width {
			text, line = text+s.Paint(Dim, line)+"\n", part
			continue
		}
		line += ", " + part
	}
	return text + s.Paint(Dim, line) + "\n"
}

func (s Screen) age(e *timelineLine) string {
	if s.Width > 0 && s.Width < roomy {
		return e.brief
	}
	return e.age
}

func (s Screen) columns(lines []timelineLine) columns {
	var w columns
	change := 0
	for i := range lines {
		e := &lines[i]
		w.age = max(w.age, Width(s.age(e)))
		w.title = max(w.title, min(Width(e.title), maxTitle))
		change = max(change, Width(e.change))
		if n := Width(e.id); n <= s.maxID() {
			w.id = max(w.id, n)
		}
	}
	if s.Width > 0 {
		used := len(indent) + marksWidth + 2 + w.age + 2 + w.id + 2
		if change > 0 {
			used += 2 + change
		}
		w.title = max(min(w.title, s.Width-used), 1)
	}
	return w
}

const (
	indent     = "  "
	marksWidth = 3
)

// maxID returns the maximum width of an id in the id column.
func (s Screen) maxID() int {
	if s.below() {
		return 8
	}
	return maxID
}

// below reports whether titles have a line of their own.
func (s Screen) below() bool { return s.Width > 0 && s.Width < oneLine }

func (s Screen) line(b *strings.Builder, e *timelineLine, w columns) {
	id, more := e.id, ""
	if Width(id) > s.maxID() {
		id, more = "", id
	}
	title, change := e.title, e.change
	line := indent + e.marks + "  " + pad(s.age(e), w.age) + "  " + pad(id, w.id) + "  "
	switch {
	case s.below():
		line += change
	case change == "":
		line, title = line+s.fit(title, Width(line)), ""
	default:
		line, title = line+pad(Truncate(title, w.title), w.title)+"  "+change, ""
	}
	b.WriteString(s.Paint(e.style, s.fit(strings.TrimRight(line, " "), 0)) + "\n")
	const deeper = "       "
	if more != "" {
		for _, part := range wrap(more, s.Width-len(deeper)) {
			b.WriteString(deeper + part + "\n")
		}
	}
	if title != "" {
		b.WriteString(deeper + s.fit(title, len(deeper)) + "\n")
	}
}

// pad appends spaces to clean text, up to n columns.
func pad(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-Width(text)))
}

// A GraphNode is a checkpoint in a graph.
type GraphNode struct {
	Entry   *Entry
	ID      string
	Parents []string // ids of the checkpoints that it came after
	Issue   string   // if the graph has several issues
}

// Graph renders checkpoints, newest first, with the lines between them in the form of
// git log --graph. Parents that the graph lacks are left out.
func (s Screen) Graph(nodes []GraphNode, now time.Time) string {
	var b strings.Builder
	known := map[string]bool{}
	for _, n := range nodes {
		known[n.ID] = true
	}
	var lanes []string // id of the next node of each lane
	for k, n := range nodes {
		at := slices.Index(lanes, n.ID)
		if at < 0 {
			at, lanes = len(lanes), append(lanes, n.ID)
		}
		for from := len(lanes) - 1; from > at; from-- {
			if lanes[from] == n.ID {
				b.WriteString(joined(lanes, at, from) + "\n")
				lanes = slices.Delete(lanes, from, from+1)
			}
		}
		marks := slices.Repeat([]string{"|"}, len(lanes))
		marks[at] = "*"
		b.WriteString(s.fit(strings.Join(marks, " ")+"  "+s.graphText(n, now), 0) + "\n")
		parents := slices.DeleteFunc(slices.Clone(n.Parents), func(id string) bool { return !known[id] })
		switch {
		case len(parents) > 0:
		case at < len(lanes)-1:
			b.WriteString(closed(len(lanes), at) + "\n")
		case len(lanes) == 1 && k < len(nodes)-1:
			b.WriteString("\n") // without a line to the next checkpoint, which is no parent
		}
		for more := 1; more < len(parents); more++ {
			b.WriteString(opened(len(lanes)+more-1, at) + "\n")
		}
		lanes = slices.Replace(lanes, at, at+1, parents...)
	}
	return b.String()
}

func (s Screen) graphText(n GraphNode, now time.Time) string {
	e := lineOf(n.Entry, now)
	text := s.Paint(cmp.Or(e.style, Yellow), e.id) + "  " + s.age(&e) + "  "
	if n.Issue != "" {
		text += s.Paint(Bold, Clean(n.Issue)) + "  "
	}
	if e.phase != "" {
		text += Clean(e.phase) + ": "
	}
	return text + e.title
}

// joined returns the line that leads lane from to lane to, its left neighbour or further left.
func joined(lanes []string, to, from int) string {
	line := []byte(strings.TrimRight(strings.Repeat("| ", len(lanes)), " "))
	for k := 2*to + 1; k < 2*from-1; k++ {
		if line[k] == ' ' {
			line[k] = '_'
		}
	}
	line[2*from-1], line[2*from] = '/', ' '
	for k := from + 1; k < len(lanes); k++ { // the lanes on the right move up
		line[2*k-1], line[2*k] = '/', ' '
	}
	return strings.TrimRight(string(line), " ")
}

// opened returns the line after a node in lane at of n lanes that gets another lane on its right.
func opened(n, at int) string {
	line := strings.Repeat("| ", at+1)
	line = line[:len(line)-1] + "\\"
	return line + strings.Repeat(" \\", n-at-1)
}

// closed returns the line after a node without parents in lane at of n lanes.
func closed(n, at int) string {
	return strings.Repeat("| ", at) + " " + strings.Repeat("/ ", n-at-1)
}
