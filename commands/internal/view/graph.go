package view

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

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
