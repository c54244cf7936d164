// Package ledger stores the permanent removals from an issue's chain, and the pins of
// checkpoints.
//
// If a chain lacks a checkpoint, the ledger distinguishes a removal on purpose from a
// clone that never had the checkpoint. Without this record, another clone's copy would
// restore the checkpoint. A ledger is a sorted text file with one fact per line and a
// final newline:
//
//	archived <id> [<reason> <clock>]
//	deleted <id>
//	pin <id> on|off <clock>
//	pruned <id> <clock>
//
// A deleted line is final.
//
// An archived line records that the checkpoint moved to the archive, with the reason and
// the time. The newest line counts.
//
// A pruned line records that retention dropped a checkpoint that another clone may still
// have. Its clock is the newest clock of the chain at that time. The line expires if it
// is more than 30 days older than the newest clock.
//
// If one id has two pins, the newer clock wins; on equal clocks, "off" wins. Deleted
// takes precedence over archived, archived over pin, and pin over pruned.
//
// A ledger also has the last restoration: a person went back to an older checkpoint. It is not
// part of the text form, because earlier versions do not accept unknown lines. Package chain
// stores it as a trailer of the ledger commit.
package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// MaxSize limits the bytes of a ledger that Parse accepts. One line has fewer than 256
// bytes.
const MaxSize = 64 << 20

// PrunedFor is the lifetime of a pruned line, measured against the newest clock.
const PrunedFor = 30 * 24 * time.Hour

// A Pin is the pinned state of a checkpoint at a clock.
type Pin struct {
	On    bool
	Clock checkpoint.Clock
}

// A Restoration is the restore of all files of a checkpoint that is not the newest one: the
// work goes on from this checkpoint until the next save. A checkpoint with a later clock ends
// the restoration. The zero value means that there was no restore.
type Restoration struct {
	ID    checkpoint.ID
	Clock checkpoint.Clock
	By    string // name of the person, "" if unknown
}

// later reports whether r takes precedence over o: the newer clock, then the larger id, then
// the larger name.
func (r Restoration) later(o Restoration) bool {
	return cmp.Or(cmp.Compare(r.Clock, o.Clock), cmp.Compare(r.ID, o.ID), cmp.Compare(r.By, o.By)) > 0
}

// A Ledger is a set of facts about checkpoints. The zero value is empty and read-only;
// use New or Clone to get a writable ledger.
type Ledger struct {
	Deleted  map[checkpoint.ID]bool
	Archived map[checkpoint.ID]Archival
	Pruned   map[checkpoint.ID]checkpoint.Clock
	Pins     map[checkpoint.ID]Pin
	Restored Restoration // the last one
}

// New returns an empty, writable ledger.
func New() *Ledger {
	return &Ledger{
		Deleted:  map[checkpoint.ID]bool{},
		Archived: map[checkpoint.ID]Archival{},
		Pruned:   map[checkpoint.ID]checkpoint.Clock{},
		Pins:     map[checkpoint.ID]Pin{},
	}
}

// Clone returns a deep, writable copy.
func (l *Ledger) Clone() *Ledger {
	return &Ledger{
		Deleted:  cloned(l.Deleted),
		Archived: cloned(l.Archived),
		Pruned:   cloned(l.Pruned),
		Pins:     cloned(l.Pins),
		Restored: l.Restored,
	}
}

func cloned[V any](m map[checkpoint.ID]V) map[checkpoint.ID]V {
	if m == nil {
		return map[checkpoint.ID]V{}
	}
	return maps.Clone(m)
}

// IsEmpty reports whether the text form of l has no lines. An empty ledger is not stored as a
// file.
func (l *Ledger) IsEmpty() bool {
	return len(l.Deleted)+len(l.Archived)+len(l.Pruned)+len(l.Pins) == 0
}

// Pinned reports whether checkpoint id is pinned.
func (l *Ledger) Pinned(id checkpoint.ID) bool { return l.Pins[id].On }

// Dead reports whether checkpoint id must not be in a live chain.
func (l *Ledger) Dead(id checkpoint.ID) bool {
	if l.Deleted[id] || l.IsArchived(id) {
		return true
	}
	_, pruned := l.Pruned[id]
	return pruned && !l.Pins[id].On
}

// SetPin pins or unpins checkpoint id at time now. The clock of the new pin is later than
// that of an existing pin, because the newest pin wins.
func (l *Ledger) SetPin(id checkpoint.ID, on bool, now time.Time) {
	before := l.Pins[id].Clock
	l.Pins[id] = Pin{On: on, Clock: max(before.Next(now), before+min(1, math.MaxInt64-before))}
}

// SetRestored records that a person went back to a checkpoint. newest is the newest clock of
// the chain.
func (l *Ledger) SetRestored(id checkpoint.ID, by string, newest checkpoint.Clock, now time.Time) {
	l.Restored = Restoration{ID: id, Clock: max(newest, l.Restored.Clock).Next(now), By: by}
}

// EndRestored removes the restoration if a checkpoint with the clock newest ends it.
func (l *Ledger) EndRestored(newest checkpoint.Clock) {
	if l.Restored.Clock <= newest {
		l.Restored = Restoration{}
	}
}

// Expire deletes pruned lines that are more than PrunedFor older than newest.
func (l *Ledger) Expire(newest checkpoint.Clock) {
	limit := newest - checkpoint.Clock(PrunedFor)
	maps.DeleteFunc(l.Pruned, func(_ checkpoint.ID, c checkpoint.Clock) bool { return c < limit })
}

// Encode returns the text form of the ledger, without the restoration. Ledgers with equal facts
// have equal bytes.
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

// Parse parses a ledger in exactly the form that Encode writes. Each error names the
// line. An unknown fact, possibly from a later version, is an error: dropping the line
// would restore a removed checkpoint.
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
		return 0, fmt.Errorf("%.30q is not a valid clock", s)
	}
	return c, nil
}

// An Archival records the reason and the time of an archiving. The zero value means that
// both are unknown.
type Archival struct {
	Reason string // lower-case word, "" if unknown
	Clock  checkpoint.Clock
}

// LastArchival returns the newest archival of a checkpoint, or zero without archivals.
func (l *Ledger) LastArchival() Archival {
	var last Archival
	for _, a := range l.Archived {
		if a.later(last) {
			last = a
		}
	}
	return last
}

// later reports whether a takes precedence over b: the newer clock, then the larger
// reason.
func (a Archival) later(b Archival) bool {
	return cmp.Or(cmp.Compare(a.Clock, b.Clock), cmp.Compare(a.Reason, b.Reason)) > 0
}

// IsArchived reports whether checkpoint id is in the archive.
func (l *Ledger) IsArchived(id checkpoint.ID) bool {
	_, archived := l.Archived[id]
	return archived
}

// A Count counts facts of a ledger by kind.
type Count struct{ Archived, Deleted, Pruned, Pins, Restored int }

// CountMissing counts the facts of l that at least one of the other ledgers lacks. A nil
// ledger has no facts.
func (l *Ledger) CountMissing(others ...*Ledger) (n Count) {
	if l == nil {
		return n
	}
	lacks := func(has func(o *Ledger) bool) int {
		for _, o := range others {
			if o == nil || !has(o) {
				return 1
			}
		}
		return 0
	}
	for id := range l.Archived {
		n.Archived += lacks(func(o *Ledger) bool { return o.IsArchived(id) })
	}
	for id := range l.Deleted {
		n.Deleted += lacks(func(o *Ledger) bool { return o.Deleted[id] })
	}
	for id := range l.Pruned {
		n.Pruned += lacks(func(o *Ledger) bool { return o.Pruned[id] != 0 })
	}
	for id, pin := range l.Pins {
		n.Pins += lacks(func(o *Ledger) bool { return o.Pins[id] == pin })
	}
	if l.Restored != (Restoration{}) {
		n.Restored = lacks(func(o *Ledger) bool { return o.Restored == l.Restored })
	}
	return n
}

func (l *Ledger) addArchived(o *Ledger) {
	for id, a := range o.Archived {
		if had, ok := l.Archived[id]; !ok || a.later(had) {
			l.Archived[id] = a
		}
	}
}

func (a Archival) line(id checkpoint.ID) string {
	if a.Reason == "" {
		return "archived " + string(id)
	}
	return fmt.Sprintf("archived %s %s %d", id, a.Reason, a.Clock)
}

// parseArchival parses the fields after the id. An unknown reason comes from a later
// version and is kept.
func parseArchival(f []string) (Archival, error) {
	if len(f) == 0 {
		return Archival{}, nil
	}
	if len(f) != 2 || !isReason(f[0]) {
		return Archival{}, fmt.Errorf("unknown fact %q", "archived ... "+strings.Join(f, " "))
	}
	clock, err := parseClock(f[1])
	return Archival{f[0], clock}, err
}

func isReason(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// Add merges the facts of o into l. The result does not depend on the order of the
// ledgers.
func (l *Ledger) Add(o *Ledger) {
	maps.Copy(l.Deleted, o.Deleted)
	l.addArchived(o)
	for id, c := range o.Pruned {
		l.Pruned[id] = max(l.Pruned[id], c)
	}
	for id, p := range o.Pins {
		if had, ok := l.Pins[id]; !ok || p.beats(had) {
			l.Pins[id] = p
		}
	}
	if o.Restored.later(l.Restored) {
		l.Restored = o.Restored
	}
	for id := range l.Deleted {
		delete(l.Archived, id)
		delete(l.Pruned, id)
		delete(l.Pins, id)
	}
}

// beats reports whether p takes precedence over had.
func (p Pin) beats(had Pin) bool {
	return p.Clock > had.Clock || p.Clock == had.Clock && !p.On
}

// NewestPruned returns the newest clock of the pruned lines, 0 if l has no pruned line.
func (l *Ledger) NewestPruned() checkpoint.Clock {
	var newest checkpoint.Clock
	for _, c := range l.Pruned {
		newest = max(newest, c)
	}
	return newest
}

// Equal reports whether l and o hold the same facts.
func (l *Ledger) Equal(o *Ledger) bool {
	return maps.Equal(l.Deleted, o.Deleted) && maps.Equal(l.Archived, o.Archived) &&
		maps.Equal(l.Pruned, o.Pruned) && maps.Equal(l.Pins, o.Pins) && l.Restored == o.Restored
}
