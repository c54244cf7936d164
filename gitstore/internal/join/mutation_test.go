package join

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
)

// rules are the sync rules; a mutation breaks one rule.
type rules struct {
	archives       func(live State, remote Chain, here ...Chain) (shared, ours State)
	pick           func(want State, archives ...Chain) int
	merge          func(now time.Time, chains ...Chain) (State, int)
	order          func(State) []Member
	tick           func(c checkpoint.Clock, now time.Time) checkpoint.Clock
	counts         func(c checkpoint.Clock, at time.Time) checkpoint.Clock
	refuse         bool // a chain with another content of an own id is refused
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
		merge: merge, order: State.Order, tick: checkpoint.Clock.Next, counts: checkpoint.Clock.Saved, own: true, lease: true,
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
		ru.order = func(s State) []Member {
			return slices.SortedFunc(maps.Keys(s.Members), func(a, b Member) int {
				return cmp.Compare(a.ID+checkpoint.ID(a.Content), b.ID+checkpoint.ID(b.Content))
			})
		}
	},
	"order by clock alone": func(ru *rules) {
		ru.order = func(s State) []Member { return slices.SortedFunc(maps.Keys(s.Members), s.compare) }
	},
	"order without facts": func(ru *rules) {
		ru.order = func(s State) []Member { return State{Members: s.Members}.Order() }
	},
	"ties in any order": func(ru *rules) {
		ru.order = func(s State) []Member {
			return slices.SortedStableFunc(maps.Keys(s.Members), func(a, b Member) int { return cmp.Compare(s.Members[a].Clock, s.Members[b].Clock) })
		}
	},
	"a clock at its limit counts": func(ru *rules) {
		ru.counts = func(c checkpoint.Clock, _ time.Time) checkpoint.Clock { return c }
	},
	"the larger content wins":                   func(ru *rules) { ru.merge = mergeBy(after(largerContent), smaller) },
	"another content of an own id is refused":   func(ru *rules) { ru.refuse = true },
	"a deletion of one content takes both":      func(ru *rules) { ru.merge = mergeBy(after(deletedByID), smaller) },
	"a deletion of all contents takes only one": func(ru *rules) { ru.merge = mergeBy(after(deletedByContent), smaller) },
	"unknown facts are lost": func(ru *rules) {
		ru.merge = mergeBy(without("link", "color", "purged"), smaller)
	},
	"the first tip wins": func(ru *rules) { ru.merge = mergeBy(MergeStates, func(a, b string) bool { return false }) },
	"deletions are forgotten": func(ru *rules) {
		ru.merge = mergeBy(without(ledger.Deleted), smaller)
	},
	"archivings are forgotten": func(ru *rules) {
		ru.merge = mergeBy(without(ledger.Archived), smaller)
	},
	"the oldest archiving counts": func(ru *rules) { ru.merge = mergeBy(before(oldest(ledger.Archived)), smaller) },
	"prunings are forgotten": func(ru *rules) {
		ru.merge = mergeBy(without(ledger.Pruned), smaller)
	},
	"pins are forgotten": func(ru *rules) {
		ru.merge = mergeBy(without(ledger.Pin), smaller)
	},
	"pruned beats pin":    func(ru *rules) { ru.merge = mergeBy(after(prunedBeatsPin), smaller) },
	"pin beats deleted":   func(ru *rules) { ru.merge = mergeBy(before(pinBeats(ledger.Deleted)), smaller) },
	"pin beats archived":  func(ru *rules) { ru.merge = mergeBy(before(pinBeats(ledger.Archived)), smaller) },
	"the oldest pin wins": func(ru *rules) { ru.merge = mergeBy(before(oldest(ledger.Pin)), smaller) },
	"on wins a tie":       func(ru *rules) { ru.merge = mergeBy(before(onWins), smaller) },
	"the first content":   func(ru *rules) { ru.merge = mergeBy(after(firstContent), smaller) },
	"pruned for ever":     func(ru *rules) { ru.merge = mergeBy(after(neverExpire), smaller) },
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
			return MergeArchives(State{Members: live.Members}, remote, here...)
		}
	},
	"the dead stay": func(ru *rules) { ru.merge = mergeBy(after(deadStay), smaller) },
}

// Each mutation must violate an invariant in some world. Short mode tries a quarter of them, chosen by
// the day.
func TestEveryRuleCounts(t *testing.T) {
	const worlds = 400
	for i, name := range slices.Sorted(maps.Keys(mutations)) {
		mutate := mutations[name]
		if testing.Short() && i%4 != gittest.Day()%4 {
			continue
		}
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
			same := maps.Equal(c.State.Members, joined.Members) && of(c.State).Ledger.Equal(joined.Ledger)
			if c.Tip != "" && same && (as < 0 || better(c.Tip, chains[as].Tip)) {
				as = k
			}
		}
		return joined, as
	}
}

// without returns a merge function that ignores facts of some kinds.
func without(kinds ...string) joiner {
	return before(func(in []State) {
		for k := range in {
			in[k].Ledger = edited(in[k].Ledger, func(f []string) bool { return !slices.Contains(kinds, f[1]) })
		}
	})
}

// edited returns a ledger with the lines that keep keeps. keep may change the fields of a line.
func edited(l *ledger.Ledger, keep func(fields []string) bool) *ledger.Ledger {
	var lines []string
	for line := range strings.Lines(string(l.Encode())) {
		if f := strings.Fields(line); keep(f) {
			lines = append(lines, strings.Join(f, " ")+"\n")
		}
	}
	slices.Sort(lines)
	changed, err := ledger.Parse([]byte(strings.Join(slices.Compact(lines), "")))
	if err != nil {
		panic(err)
	}
	return changed
}

// before returns a merge function that modifies its inputs first.
func before(change func(in []State)) joiner {
	return func(states ...State) State {
		in := make([]State, len(states))
		for k, s := range states {
			in[k] = State{s.Members, ledger.New()}
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
	maps.DeleteFunc(out.Members, func(m Member, _ Checkpoint) bool { return out.Ledger.IsPruned(m.ID) })
}

// pinBeats removes the facts of a kind about checkpoints that a state has pinned.
func pinBeats(kind string) func(in []State) {
	return func(in []State) {
		pinned := map[string]bool{}
		for _, s := range in {
			edited(s.Ledger, func(f []string) bool {
				pinned[f[2]] = pinned[f[2]] || f[1] == ledger.Pin && f[3] == "1"
				return true
			})
		}
		for k := range in {
			in[k].Ledger = edited(in[k].Ledger, func(f []string) bool { return f[1] != kind || !pinned[f[2]] })
		}
	}
}

// oldest replaces the last facts of a kind by the oldest one about the same checkpoint.
func oldest(kind string) func(in []State) {
	return func(in []State) {
		first := map[string][]string{}
		for _, s := range in {
			edited(s.Ledger, func(f []string) bool {
				if had := first[f[2]]; f[1] == kind && (had == nil || clockOf(f) < clockOf(had)) {
					first[f[2]] = slices.Clone(f)
				}
				return true
			})
		}
		for k := range in {
			in[k].Ledger = edited(in[k].Ledger, func(f []string) bool {
				if f[1] == kind {
					copy(f, first[f[2]])
				}
				return true
			})
		}
	}
}

func clockOf(f []string) checkpoint.Clock {
	c, _ := checkpoint.ParseClock(f[4])
	return c
}

// onWins lets the larger value win on equal clocks.
func onWins(in []State) {
	newest := map[string][]string{}
	for _, s := range in {
		edited(s.Ledger, func(f []string) bool {
			if had := newest[f[2]]; f[1] == ledger.Pin && (had == nil || clockOf(f) > clockOf(had) || clockOf(f) == clockOf(had) && f[3] == "1") {
				newest[f[2]] = slices.Clone(f)
			}
			return true
		})
	}
	for k := range in {
		in[k].Ledger = edited(in[k].Ledger, func(f []string) bool {
			if f[1] == ledger.Pin {
				copy(f, newest[f[2]])
			}
			return true
		})
	}
}

// keepOne leaves one member of each id.
func keepOne(out State, better func(a, b Member) bool) {
	best := map[checkpoint.ID]Member{}
	for m := range out.Members {
		if had, ok := best[m.ID]; !ok || better(m, had) {
			best[m.ID] = m
		}
	}
	maps.DeleteFunc(out.Members, func(m Member, _ Checkpoint) bool { return best[m.ID] != m })
}

func largerContent(out State, _ []State) {
	keepOne(out, func(a, b Member) bool { return a.Content > b.Content })
}

func firstContent(out State, in []State) {
	first := func(m Member) int {
		return slices.IndexFunc(in, func(s State) bool { _, ok := s.Members[m]; return ok })
	}
	keepOne(out, func(a, b Member) bool { return first(a) < first(b) })
}

func deletedByID(out State, _ []State) {
	maps.DeleteFunc(out.Members, func(m Member, _ Checkpoint) bool { return out.Ledger.HasDeleted(m.ID) })
}

func deletedByContent(out State, in []State) {
	all := map[checkpoint.ID]int{}
	for _, s := range in {
		for m, c := range s.Members {
			if all[m.ID]++; all[m.ID] > 1 && out.Ledger.Deletes(m.ID, ledger.AnyContent) {
				out.Members[m] = c
			}
		}
	}
}

func neverExpire(out State, in []State) {
	for _, s := range in {
		if s.Ledger != nil {
			out.Ledger.Add(s.Ledger)
		}
	}
}

func deadStay(out State, in []State) {
	for _, s := range in {
		maps.Copy(out.Members, s.Members)
	}
}
