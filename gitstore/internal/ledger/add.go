package ledger

import (
	"maps"

	"git-checkpoint/gitstore/checkpoint"
)

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
		maps.Equal(l.Pruned, o.Pruned) && maps.Equal(l.Pins, o.Pins)
}
