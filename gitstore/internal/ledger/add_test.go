package ledger

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

func TestAdd(t *testing.T) {
	t.Parallel()
	l, o := New(), New()
	l.Archived[one], l.Pruned[one], l.Pins[one] = Archival{}, 3, Pin{On: true, Clock: 9}
	o.Deleted[one] = true
	l.Pruned[two], o.Pruned[two] = 3, 4
	l.Add(o)
	assert.Equal(t, &Ledger{
		Deleted:  map[checkpoint.ID]bool{one: true},
		Archived: map[checkpoint.ID]Archival{},
		Pruned:   map[checkpoint.ID]checkpoint.Clock{two: 4},
		Pins:     map[checkpoint.ID]Pin{},
	}, l)
	assert.Equal(t, checkpoint.Clock(4), l.NewestPruned())
}

func TestAddRestorations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ a, b, want Restoration }{
		"newer":        {Restoration{one, 1, "Ann"}, Restoration{two, 2, ""}, Restoration{two, 2, ""}},
		"a tie":        {Restoration{one, 2, "Ann"}, Restoration{two, 2, "Ann"}, Restoration{two, 2, "Ann"}},
		"a tie, names": {Restoration{one, 2, "Ann"}, Restoration{one, 2, "Bob"}, Restoration{one, 2, "Bob"}},
		"one has none": {Restoration{}, Restoration{one, 2, "Ann"}, Restoration{one, 2, "Ann"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][2]Restoration{{c.a, c.b}, {c.b, c.a}} {
				l, o := New(), New()
				l.Restored, o.Restored = order[0], order[1]
				l.Add(o)
				assert.Equal(t, c.want, l.Restored)
				assert.Nil(t, l.Encode(), "it is not in the text form")
				l.EndRestored(c.want.Clock - 1)
				assert.Equal(t, c.want, l.Restored)
				l.EndRestored(c.want.Clock)
				assert.Equal(t, Restoration{}, l.Restored)
			}
		})
	}
}

func TestAddPins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ a, b, want Pin }{
		"newer on":        {Pin{false, 1}, Pin{true, 2}, Pin{true, 2}},
		"newer off":       {Pin{true, 1}, Pin{false, 2}, Pin{false, 2}},
		"off on a tie":    {Pin{true, 2}, Pin{false, 2}, Pin{false, 2}},
		"at the epoch":    {Pin{true, 0}, Pin{true, 0}, Pin{true, 0}},
		"older, too late": {Pin{true, 3}, Pin{false, 2}, Pin{true, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][2]Pin{{c.a, c.b}, {c.b, c.a}} {
				l, o := New(), New()
				l.Pins[one], o.Pins[one] = order[0], order[1]
				l.Add(o)
				assert.Equal(t, c.want, l.Pins[one])
			}
		})
	}
}

func TestAddArchivals(t *testing.T) {
	t.Parallel()
	failed, aged := Archival{"failed", 2}, Archival{"aged", 2}
	for name, c := range map[string]struct{ a, b, want Archival }{
		"newer":   {Archival{"completed", 1}, failed, failed},
		"a tie":   {failed, aged, failed},
		"known":   {Archival{}, Archival{"aged", 0}, Archival{"aged", 0}},
		"neither": {},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][2]Archival{{c.a, c.b}, {c.b, c.a}} {
				l, o := New(), New()
				l.Archived[one], o.Archived[one] = order[0], order[1]
				l.Add(o)
				assert.Equal(t, c.want, l.Archived[one])
			}
		})
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	assert.True(t, full().Equal(full()))
	for name, change := range map[string]func(*Ledger){
		"deleted":  func(l *Ledger) { l.Deleted["x-1"] = true },
		"archived": func(l *Ledger) { delete(l.Archived, two) },
		"reason":   func(l *Ledger) { l.Archived[two] = Archival{"failed", 9} },
		"pruned":   func(l *Ledger) { l.Pruned["CP-c-x-0000cccc"]++ },
		"pins":     func(l *Ledger) { l.Pins[two] = Pin{On: true, Clock: 8} },
	} {
		t.Run(name, func(t *testing.T) {
			l := full()
			change(l)
			assert.False(t, l.Equal(full()))
		})
	}
	assert.True(t, (&Ledger{}).Equal(New()))
}
