// Package ledger holds what is gone from an issue's chain for good, and its
// pins.
//
// A checkpoint that a chain no longer has may only have been missing from a
// clone; the ledger says that it was removed on purpose, so that another
// clone's copy does not bring it back. It is a text file, one fact a line,
// sorted, with a final newline:
//
//	archived <id> [<reason> <clock>]
//	deleted <id>
//	pin <id> on|off <clock>
//	pruned <id> <clock>
//
// deleted is final. archived says that the checkpoint lives on in the
// archive, why and since when; the newest counts. pruned says that retention dropped a checkpoint which another
// clone may still have; its clock is the newest one the chain had then, and
// the line expires 30 days before the newest clock. Of two pins of one id the
// newer clock wins, and "off" on a tie. Deleted beats archived beats pin
// beats pruned.
package ledger

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// MaxSize bounds a ledger that is read: one line is under 256 bytes.
const MaxSize = 64 << 20

// PrunedFor is how long a pruned line is kept, against the newest clock.
const PrunedFor = 30 * 24 * time.Hour

// A Pin says whether a checkpoint is pinned, as of a clock.
type Pin struct {
	On    bool
	Clock checkpoint.Clock
}

// A Ledger is the set of facts. The zero value is empty and can be read;
// Clone it, or begin with New, to write.
type Ledger struct {
	Deleted  map[checkpoint.ID]bool
	Archived map[checkpoint.ID]Archival
	Pruned   map[checkpoint.ID]checkpoint.Clock
	Pins     map[checkpoint.ID]Pin
}

// New returns an empty ledger.
func New() *Ledger {
	return &Ledger{
		Deleted:  map[checkpoint.ID]bool{},
		Archived: map[checkpoint.ID]Archival{},
		Pruned:   map[checkpoint.ID]checkpoint.Clock{},
		Pins:     map[checkpoint.ID]Pin{},
	}
}

// Clone returns a copy that shares nothing with l.
func (l *Ledger) Clone() *Ledger {
	return &Ledger{
		Deleted:  cloned(l.Deleted),
		Archived: cloned(l.Archived),
		Pruned:   cloned(l.Pruned),
		Pins:     cloned(l.Pins),
	}
}

func cloned[V any](m map[checkpoint.ID]V) map[checkpoint.ID]V {
	if m == nil {
		return map[checkpoint.ID]V{}
	}
	return maps.Clone(m)
}

// IsEmpty reports whether l holds no fact: no file is stored for it then.
func (l *Ledger) IsEmpty() bool {
	return len(l.Deleted)+len(l.Archived)+len(l.Pruned)+len(l.Pins) == 0
}

// Pinned reports whether id is pinned.
func (l *Ledger) Pinned(id checkpoint.ID) bool { return l.Pins[id].On }

// Dead reports whether id may not be in a live chain.
func (l *Ledger) Dead(id checkpoint.ID) bool {
	if l.Deleted[id] || l.IsArchived(id) {
		return true
	}
	_, pruned := l.Pruned[id]
	return pruned && !l.Pins[id].On
}

// SetPin pins or unpins id as of now, with a clock after the one of the pin that
// l already has: the newest pin wins.
func (l *Ledger) SetPin(id checkpoint.ID, on bool, now time.Time) {
	before := l.Pins[id].Clock
	l.Pins[id] = Pin{On: on, Clock: max(before.Next(now), before+min(1, math.MaxInt64-before))}
}

// Expire forgets pruned lines older than PrunedFor against newest.
func (l *Ledger) Expire(newest checkpoint.Clock) {
	limit := newest - checkpoint.Clock(PrunedFor)
	maps.DeleteFunc(l.Pruned, func(_ checkpoint.ID, c checkpoint.Clock) bool { return c < limit })
}

// Encode writes the ledger; equal ledgers give equal bytes.
func (l *Ledger) Encode() []byte {
	lines := make([]string, 0, len(l.Deleted)+len(l.Archived)+len(l.Pruned)+len(l.Pins))
	for id := range l.Deleted {
		lines = append(lines, "deleted "+string(id))
	}
	for id, a := range l.Archived {
		lines = append(lines, a.line(id))
	}
	for id, c := range l.Pruned {
		lines = append(lines, fmt.Sprintf("pruned %s %d", id, c))
	}
	for id, p := range l.Pins {
		state := "off"
		if p.On {
			state = "on"
		}
		lines = append(lines, fmt.Sprintf("pin %s %s %d", id, state, p.Clock))
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// Parse reads a ledger as Encode writes it, and nothing else. Every error
// names its line; a line that a later version may have added is an error,
// since dropping it would bring back what it says is gone.
func Parse(data []byte) (*Ledger, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("ledger: %d bytes, more than %d", len(data), MaxSize)
	}
	l := New()
	n, before := 0, ""
	for line := range strings.Lines(string(data)) {
		n++
		text, whole := strings.CutSuffix(line, "\n")
		err := l.parseLine(strings.Split(text, " "))
		switch {
		case err == nil && !whole:
			err = errors.New("cut short")
		case err == nil && text <= before:
			err = errors.New("not in order")
		}
		if err != nil {
			return nil, fmt.Errorf("ledger: line %d: %w", n, err)
		}
		before = text
	}
	return l, nil
}

func (l *Ledger) parseLine(f []string) error {
	if len(f) < 2 {
		return fmt.Errorf("want a fact and an id, got %q", strings.Join(f, " "))
	}
	id, err := checkpoint.ParseID(f[1])
	if err != nil {
		return err
	}
	_, pruned := l.Pruned[id]
	_, pinned := l.Pins[id]
	switch {
	case f[0] == "pruned" && pruned, f[0] == "pin" && pinned, f[0] == "archived" && l.IsArchived(id):
		return fmt.Errorf("a second %s of %s", f[0], id)
	case f[0] == "deleted" && len(f) == 2:
		l.Deleted[id] = true
	case f[0] == "archived":
		l.Archived[id], err = parseArchival(f[2:])
	case f[0] == "pruned" && len(f) == 3:
		l.Pruned[id], err = parseClock(f[2])
	case f[0] == "pin" && len(f) == 4 && (f[2] == "on" || f[2] == "off"):
		var c checkpoint.Clock
		c, err = parseClock(f[3])
		l.Pins[id] = Pin{On: f[2] == "on", Clock: c}
	default:
		return fmt.Errorf("unknown fact %q", strings.Join(f, " "))
	}
	return err
}

func parseClock(s string) (checkpoint.Clock, error) {
	c, ok := checkpoint.ParseClock(s)
	if !ok {
		return 0, fmt.Errorf("%.30q is no clock", s)
	}
	return c, nil
}
