package join

import (
	"maps"
	"slices"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"

	"github.com/stretchr/testify/assert"
)

// rules are the sync rules; a mutation breaks one rule.
type rules struct {
	archives       func(live State, remote Chain, here ...Chain) (shared, ours State)
	pick           func(want State, archives ...Chain) int
	merge          func(now time.Time, chains ...Chain) (State, int)
	order          func(State) []checkpoint.ID
	tick           func(c checkpoint.Clock, now time.Time) checkpoint.Clock
	own            bool // merges include the last chain that this clone wrote
	lease          bool // a push compares the remote ref with the value read before
	takeTheirs     bool // the remote's chain replaces the local chain
	absenceDeletes bool // a missing remote ref deletes the local ref
	moving         bool // a sync moves archived checkpoints to the local archive
	repairMoves    bool // a repair after plain git does the same
	archiveFirst   bool // a push updates the archive before the chain
	archiveLease   bool // a push of an archive uses a lease
	theirArchive   bool // the remote's archive replaces the local archive
	cut            bool // a shallow chain is append-only
	splice         bool // a splice keeps archived checkpoints
	left           bool // archived checkpoints that a shallow clone left in a chain go to the remote's archive
}

// keepAll returns the rules of gitstore.
func keepAll() rules {
	merge := func(_ time.Time, chains ...Chain) (State, int) { return Merge(chains...) }
	return rules{
		merge: merge, order: State.Order, tick: checkpoint.Clock.Next, own: true, lease: true,
		archives: MergeArchives, pick: Pick, moving: true, repairMoves: true, archiveFirst: true, archiveLease: true, cut: true,
		splice: true, left: true,
	}
}

// Each mutation breaks one rule.
var mutations = map[string]func(*rules){
	"what was written last is forgotten": func(ru *rules) { ru.own = false },
	"push without a lease":               func(ru *rules) { ru.lease = false },
	"adopt what the remote has":          func(ru *rules) { ru.takeTheirs = true },
	"absence means deletion":             func(ru *rules) { ru.absenceDeletes = true },
	"a clock a day ahead is not followed": func(ru *rules) {
		ru.tick = func(c checkpoint.Clock, now time.Time) checkpoint.Clock {
			if c.Ahead(now) {
				return checkpoint.ClockAt(now)
			}
			return c.Next(now)
		}
	},
	"clocks that do not tick": func(ru *rules) {
		ru.tick = func(_ checkpoint.Clock, now time.Time) checkpoint.Clock { return checkpoint.Clock(now.UnixNano()) }
	},
	"order by id": func(ru *rules) {
		ru.order = func(s State) []checkpoint.ID { return slices.Sorted(maps.Keys(s.Checkpoints)) }
	},
	"ties in any order": func(ru *rules) {
		ru.order = func(s State) []checkpoint.ID {
			return slices.SortedStableFunc(maps.Keys(s.Checkpoints), func(a, b checkpoint.ID) int {
				return int(min(1, max(-1, s.Checkpoints[a].Clock-s.Checkpoints[b].Clock)))
			})
		}
	},
	"the first tip wins": func(ru *rules) { ru.merge = mergeBy(MergeStates, func(a, b string) bool { return false }) },
	"deletions are forgotten": func(ru *rules) {
		ru.merge = mergeBy(without(func(l *ledger.Ledger) { clear(l.Deleted) }), smaller)
	},
	"archivings are forgotten": func(ru *rules) {
		ru.merge = mergeBy(without(func(l *ledger.Ledger) { clear(l.Archived) }), smaller)
	},
	"the oldest archiving counts": func(ru *rules) { ru.merge = mergeBy(before(oldestArchival), smaller) },
	"prunings are forgotten": func(ru *rules) {
		ru.merge = mergeBy(without(func(l *ledger.Ledger) { clear(l.Pruned) }), smaller)
	},
	"pins are forgotten": func(ru *rules) {
		ru.merge = mergeBy(without(func(l *ledger.Ledger) { clear(l.Pins) }), smaller)
	},
	"pruned beats pin":   func(ru *rules) { ru.merge = mergeBy(after(prunedBeatsPin), smaller) },
	"pin beats deleted":  func(ru *rules) { ru.merge = mergeBy(before(pinBeatsDeleted), smaller) },
	"pin beats archived": func(ru *rules) { ru.merge = mergeBy(before(pinBeatsArchived), smaller) },
	"the first pin wins": func(ru *rules) { ru.merge = mergeBy(before(firstPin), smaller) },
	"on wins a tie":      func(ru *rules) { ru.merge = mergeBy(before(onWins), smaller) },
	"the first content":  func(ru *rules) { ru.merge = mergeBy(after(firstContent), smaller) },
	"pruned for ever":    func(ru *rules) { ru.merge = mergeBy(after(neverExpire), smaller) },
	"pruned by the time of day": func(ru *rules) {
		ru.merge = func(now time.Time, chains ...Chain) (State, int) {
			of := after(func(out State, _ []State) { out.Ledger.Expire(checkpoint.Clock(now.UnixNano())) })
			return mergeBy(of, smaller)(now, chains...)
		}
	},
	"what is archived elsewhere is not moved":                 func(ru *rules) { ru.moving = false },
	"a plain fetch of an archived one takes it away":          func(ru *rules) { ru.repairMoves = false },
	"the chain is pushed before its archive":                  func(ru *rules) { ru.archiveFirst = false },
	"push of an archive without a lease":                      func(ru *rules) { ru.archiveLease = false },
	"adopt the archive that the remote has":                   func(ru *rules) { ru.theirArchive = true },
	"adopt a chain that is not a continuation of the cut one": func(ru *rules) { ru.cut = false },
	"a splice loses what is archived":                         func(ru *rules) { ru.splice = false },
	"what a shallow clone left is not archived":               func(ru *rules) { ru.left = false },
	"live ones stay in the archive": func(ru *rules) {
		ru.archives = func(live State, remote Chain, here ...Chain) (State, State) {
			return MergeArchives(State{Ledger: live.Ledger}, remote, here...)
		}
	},
	"live ones leave the remote's archive": func(ru *rules) {
		ru.archives = func(live State, remote Chain, here ...Chain) (State, State) {
			_, ours := MergeArchives(live, remote, here...)
			return ours, ours
		}
	},
	"deleted ones stay in the archive": func(ru *rules) {
		ru.archives = func(live State, remote Chain, here ...Chain) (State, State) {
			return MergeArchives(State{Checkpoints: live.Checkpoints}, remote, here...)
		}
	},
	"the dead stay": func(ru *rules) { ru.merge = mergeBy(after(deadStay), smaller) },
}

// Each mutation must violate an invariant in some world.
func TestEveryRuleCounts(t *testing.T) {
	const worlds = 400
	for name, mutate := range mutations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ru := keepAll()
			mutate(&ru)
			for seed := range uint64(worlds) {
				w := newWorld(seed, ru)
				w.run(worldSteps)
				if w.broken != "" {
					t.Logf("seed %d: %s", seed, w.broken)
					return
				}
			}
			assert.Failf(t, "nothing broke", "in %d worlds", worlds)
		})
	}
}

type joiner func(...State) State

func smaller(a, b string) bool { return a < b }

// mergeBy returns Merge with another merge function and another tip order.
func mergeBy(of joiner, better func(a, b string) bool) func(time.Time, ...Chain) (State, int) {
	return func(_ time.Time, chains ...Chain) (State, int) {
		states := make([]State, len(chains))
		for k, c := range chains {
			states[k] = c.State
		}
		joined, as := of(states...), -1
		for k, c := range chains {
			same := maps.Equal(c.State.Checkpoints, joined.Checkpoints) && of(c.State).Ledger.Equal(joined.Ledger)
			if c.Tip != "" && same && (as < 0 || better(c.Tip, chains[as].Tip)) {
				as = k
			}
		}
		return joined, as
	}
}

// without returns a merge function that ignores some ledger lines.
func without(forget func(*ledger.Ledger)) joiner {
	return before(func(in []State) {
		for k := range in {
			forget(in[k].Ledger)
		}
	})
}

// before returns a merge function that modifies its inputs first.
func before(change func(in []State)) joiner {
	return func(states ...State) State {
		in := make([]State, len(states))
		for k, s := range states {
			in[k] = State{s.Checkpoints, ledger.New()}
			if s.Ledger != nil {
				in[k].Ledger = s.Ledger.Clone()
			}
		}
		change(in)
		return MergeStates(in...)
	}
}

// after returns a merge function that modifies its result.
func after(change func(out State, in []State)) joiner {
	return func(states ...State) State {
		out := MergeStates(states...)
		change(out, states)
		return out
	}
}

func prunedBeatsPin(out State, _ []State) {
	for id := range out.Ledger.Pruned {
		delete(out.Checkpoints, id)
	}
}

func pins(in []State, f func(id checkpoint.ID, p ledger.Pin)) {
	for _, s := range in {
		for id, p := range s.Ledger.Pins {
			f(id, p)
		}
	}
}

func pinBeatsDeleted(in []State) {
	pins(in, func(id checkpoint.ID, p ledger.Pin) {
		for k := range in {
			if p.On {
				delete(in[k].Ledger.Deleted, id)
			}
		}
	})
}

func pinBeatsArchived(in []State) {
	pins(in, func(id checkpoint.ID, p ledger.Pin) {
		for k := range in {
			if p.On {
				delete(in[k].Ledger.Archived, id)
			}
		}
	})
}

func oldestArchival(in []State) {
	oldest := map[checkpoint.ID]ledger.Archival{}
	for _, s := range in {
		for id, a := range s.Ledger.Archived {
			if had, ok := oldest[id]; !ok || a.Clock < had.Clock {
				oldest[id] = a
			}
		}
	}
	for id, a := range oldest {
		for k := range in {
			if in[k].Ledger.IsArchived(id) {
				in[k].Ledger.Archived[id] = a
			}
		}
	}
}

// everywhere replaces all pins of an id with one pin.
func everywhere(in []State, id checkpoint.ID, p ledger.Pin) {
	for k := range in {
		if _, ok := in[k].Ledger.Pins[id]; ok {
			in[k].Ledger.Pins[id] = p
		}
	}
}

func firstPin(in []State) {
	first := map[checkpoint.ID]ledger.Pin{}
	pins(in, func(id checkpoint.ID, p ledger.Pin) {
		if _, ok := first[id]; !ok {
			first[id] = p
		}
	})
	for id, p := range first {
		everywhere(in, id, p)
	}
}

func onWins(in []State) {
	newest := map[checkpoint.ID]ledger.Pin{}
	pins(in, func(id checkpoint.ID, p ledger.Pin) {
		if had, ok := newest[id]; !ok || p.Clock > had.Clock || p.Clock == had.Clock && p.On {
			newest[id] = p
		}
	})
	for id, p := range newest {
		everywhere(in, id, p)
	}
}

func firstContent(out State, in []State) {
	for id := range out.Checkpoints {
		k := slices.IndexFunc(in, func(s State) bool { _, ok := s.Checkpoints[id]; return ok })
		out.Checkpoints[id] = in[k].Checkpoints[id]
	}
}

func neverExpire(out State, in []State) {
	for _, s := range in {
		if s.Ledger == nil {
			continue
		}
		for id, at := range s.Ledger.Pruned {
			if !out.Ledger.Deleted[id] {
				out.Ledger.Pruned[id] = max(out.Ledger.Pruned[id], at)
			}
		}
	}
}

func deadStay(out State, in []State) {
	for _, s := range in {
		maps.Copy(out.Checkpoints, s.Checkpoints)
	}
}
