package ledger

import (
	"maps"

	"git-checkpoint/gitstore/checkpoint"
)

// Add makes l say what o says too. In which order ledgers are added makes no
// difference.
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

// beats reports whether p counts where had is known too.
func (p Pin) beats(had Pin) bool {
	return p.Clock > had.Clock || p.Clock == had.Clock && !p.On
}

// NewestPruned is the newest clock of the pruned lines, 0 when there are none.
func (l *Ledger) NewestPruned() checkpoint.Clock {
	var newest checkpoint.Clock
	for _, c := range l.Pruned {
		newest = max(newest, c)
	}
	return newest
}

// Equal reports whether l and o say the same.
func (l *Ledger) Equal(o *Ledger) bool {
	return maps.Equal(l.Deleted, o.Deleted) && maps.Equal(l.Archived, o.Archived) &&
		maps.Equal(l.Pruned, o.Pruned) && maps.Equal(l.Pins, o.Pins)
}
