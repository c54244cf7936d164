package view

import (
	"cmp"
	"fmt"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// An Origin is a checkpoint or a commit that brought lines of a file, with the turn of an agent
// that it is.
type Origin struct {
	Source  *gitstore.BlameSource
	Turn    checkpoint.AgentTurn // of the record
	Session string
	IsTurn  bool // an agent's turn; otherwise the turns so far are Turn.Number
}

// OriginOf returns the origin of a source. The record is nil if the source is no checkpoint.
func OriginOf(source *gitstore.BlameSource, r *checkpoint.Record) Origin {
	o := Origin{Source: source}
	if r != nil {
		o.Turn, o.Session = r.AgentTurn(), r.Session()
		o.IsTurn = source.Checkpoint.Trigger == checkpoint.Turn && !o.Turn.Hand
	}
	return o
}

// Name returns the short id of the checkpoint or of the commit, "" for lines that are not saved.
func (o *Origin) Name() string {
	switch s := o.Source; {
	case s.NotSaved:
		return ""
	case s.Checkpoint != nil:
		return s.Checkpoint.ID.Short()
	default:
		return s.Commit.String()[:8]
	}
}

// Who returns the turn and its agent, such as "turn 7, claude". For the changes of a person before a
// turn it returns "by hand, between turns 7 and 8", and for changes while an agent was in a turn
// "during a turn of claude". For another save it returns the turn that ended before, and for a
// commit its author.
func (o *Origin) Who() string {
	s := o.Source
	switch {
	case s.NotSaved:
		return "not saved yet"
	case s.Checkpoint == nil:
		return s.Author
	case o.IsTurn:
		return turnName(o.Turn.Number, o.Turn.Agent)
	case o.Turn.Hand && o.Turn.Agent != "":
		return HandNote(o.Turn.Agent)
	case o.Turn.Number > 0 && o.Turn.Hand:
		return handName(o.Turn.Number)
	case o.Turn.Number > 0: // of a person or of the agent, in the middle of its turn
		return fmt.Sprintf("after turn %d", o.Turn.Number)
	}
	return cmp.Or(s.Author, "checkpoint")
}

// turnName returns the name of a turn, such as "turn 7, claude". agent can be "".
func turnName(number int, agent string) string {
	return strings.TrimSuffix(fmt.Sprintf("turn %d, %s", number, agent), ", ")
}

// handName names the changes of a person after a number of turns.
func handName(turns int) string {
	return fmt.Sprintf("by hand, between turns %d and %d", turns, turns+1)
}

// What returns the first line of the request of the turn, of the note, or of the message.
func (o *Origin) What() string {
	if o.IsTurn && o.Turn.Request != "" {
		return FirstLine(o.Turn.Request)
	}
	if o.Source.NotSaved || o.Turn.Hand && (o.Turn.Number > 0 || o.Turn.Agent != "") {
		return "" // Who has it all
	}
	return o.Source.Summary
}

// Record returns the record of an origin.
func (o *Origin) Record() BlameSource {
	s := o.Source
	b := BlameSource{Saved: !s.NotSaved}
	switch {
	case s.NotSaved:
		return b
	case s.Checkpoint == nil:
		b.Commit = s.Commit.String()
	default:
		b.Checkpoint, b.Trigger = string(s.Checkpoint.ID), string(s.Checkpoint.Trigger)
		if o.IsTurn {
			b.Turn, b.Agent, b.Session, b.Request = new(o.Turn.Number), o.Turn.Agent, o.Session, o.Turn.Request
		} else {
			b.AfterTurn = new(o.Turn.Number)
		}
	}
	b.Author, b.Time, b.Summary = s.Author, s.Time, s.Summary
	return b
}

// A Blamed is a file with the origins of its lines.
type Blamed struct {
	Lines   []gitstore.BlameLine
	Origins map[*gitstore.BlameSource]*Origin
	Order   []*Origin // by their first line
}

// BlameOf adds the origins to lines. record reads the record of a checkpoint, nil if it cannot be
// read.
func BlameOf(lines []gitstore.BlameLine, record func(*gitstore.Checkpoint) *checkpoint.Record) *Blamed {
	b := &Blamed{Lines: lines, Origins: map[*gitstore.BlameSource]*Origin{}}
	for _, l := range lines {
		if b.Origins[l.Source] != nil {
			continue
		}
		var r *checkpoint.Record
		if l.Source.Checkpoint != nil {
			r = record(l.Source.Checkpoint)
		}
		o := OriginOf(l.Source, r)
		b.Origins[l.Source] = &o
		b.Order = append(b.Order, &o)
	}
	return b
}

// Record returns the JSON record.
func (b *Blamed) Record(issue checkpoint.Issue, path string) Blame {
	record := Blame{Type: "blame", Issue: string(issue), Path: checkpoint.QuotePath(path)}
	at := map[*Origin]int{}
	for i, o := range b.Order {
		at[o] = i
		record.Sources = append(record.Sources, o.Record())
	}
	record.Lines = Each(b.Lines, func(l gitstore.BlameLine) BlameLine {
		return BlameLine{Line: l.Number, Source: at[b.Origins[l.Source]], Text: l.Text}
	})
	return record
}

// Widths of the columns of Blame, in cells.
const (
	blameWho  = 34
	blameWhat = 40
)

// Blame renders lines with their origins: id, origin, request, number and text. At a terminal,
// a line with the origin of the line before it repeats nothing.
func (s Screen) Blame(blamed *Blamed, people bool) string {
	lines, origins := blamed.Lines, blamed.Origins
	var b strings.Builder
	who, what, digits := 0, 0, 1
	for _, l := range lines {
		o := origins[l.Source]
		who, what = max(who, min(Width(Clean(o.Who())), blameWho)), max(what, min(Width(Clean(o.What())), blameWhat))
		digits = max(digits, len(fmt.Sprint(l.Number)))
	}
	if people && s.Width > 0 {
		what = max(0, min(what, s.Width/3-who))
	}
	var before *gitstore.BlameSource
	for _, l := range lines {
		o := origins[l.Source]
		name, by, request := o.Name(), Truncate(Clean(o.Who()), who), Truncate(Clean(o.What()), what)
		if people && l.Source == before {
			name, by, request = "", "", ""
		}
		before = l.Source
		fmt.Fprintf(&b, "%s %s %s %*d) %s\n", s.Paint(Yellow, pad(name, 8)), pad(by, who), s.Paint(Dim, pad(request, what)), digits, l.Number, Clean(l.Text))
	}
	return b.String()
}

// BlamePorcelain renders lines in the format of git blame --porcelain. The commit of a line is
// that of its checkpoint, a commit of the repository, or zero if the line is not saved.
func BlamePorcelain(lines []gitstore.BlameLine) string {
	var b strings.Builder
	seen := map[*gitstore.BlameSource]bool{}
	for i, l := range lines {
		commit := l.Source.Commit
		switch {
		case l.Source.NotSaved:
			commit = gitstore.NoCommit
		case l.Source.Checkpoint != nil:
			commit = l.Source.Checkpoint.Commit
		}
		fmt.Fprintf(&b, "%s %d %d", commit, l.Original, l.Number)
		first := i == 0 || !isNext(l, lines[i-1])
		if first {
			n := 1
			for i+n < len(lines) && isNext(lines[i+n], lines[i+n-1]) {
				n++
			}
			fmt.Fprintf(&b, " %d", n)
		}
		b.WriteString("\n")
		if !seen[l.Source] {
			for _, header := range l.Source.Headers {
				b.WriteString(header + "\n")
			}
			seen[l.Source] = true
		}
		if first {
			b.WriteString("filename " + checkpoint.QuotePath(l.File) + "\n")
		}
		b.WriteString("\t" + l.Text + "\n")
	}
	return b.String()
}

// isNext reports whether a line comes right after another one, in the file and in its source.
func isNext(l, before gitstore.BlameLine) bool {
	return l.Source == before.Source && l.Number == before.Number+1 && l.Original == before.Original+1
}
