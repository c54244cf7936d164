package ledger

import (
	"cmp"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// An Archival says why a checkpoint went to the archive, and when. The zero
// value says that nobody noted it.
type Archival struct {
	Reason string // a word in lower case, "" when it is not known
	Clock  checkpoint.Clock
}

// later orders what clones say of one checkpoint: the newest counts.
func (a Archival) later(b Archival) bool {
	return cmp.Or(cmp.Compare(a.Clock, b.Clock), cmp.Compare(a.Reason, b.Reason)) > 0
}

// IsArchived reports whether id lives on in the archive.
func (l *Ledger) IsArchived(id checkpoint.ID) bool {
	_, archived := l.Archived[id]
	return archived
}

// addArchived takes over what o says of the archive.
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

// parseArchival reads what follows the id. A reason that is not known here is
// one of a later version, and no reason to lose the line.
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
