package ledger

import (
	"cmp"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// An Archival records the reason and the time of an archiving. The zero value means that
// both are unknown.
type Archival struct {
	Reason string // lower-case word, "" if unknown
	Clock  checkpoint.Clock
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
