package retention

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint"
)

const histories = 2_000

// random returns a policy and a history that reach every rule. Few triggers and phases
// fill the groups, and clocks jump in both directions.
func random(r *rand.Rand) (Policy, []Item) {
	triggers := slices.Sorted(maps.Values(initials))
	items := make([]Item, r.Intn(25))
	few := 1 + r.Intn(len(triggers))
	from := r.Intn(len(triggers))
	for i := range items {
		items[i] = Item{
			ID:        checkpoint.ID(fmt.Sprintf("c%d", i)),
			Trigger:   triggers[(from+r.Intn(few))%len(triggers)],
			Phase:     []string{"", "a", "b"}[r.Intn(3)],
			Created:   noon.Add(time.Duration(r.Intn(200)-100) * time.Hour),
			Pinned:    r.Intn(12) == 0,
			Resumable: r.Intn(4) != 0,
			Valid:     r.Intn(6) != 0,
		}
	}
	p := Default()
	for range r.Intn(6) {
		t := triggers[r.Intn(len(triggers))]
		p[t] = Rule{Keep: r.Intn(6) - 1, PerPhase: r.Intn(2) == 0}
	}
	if r.Intn(10) == 0 {
		delete(p, triggers[r.Intn(len(triggers))])
	}
	return p, items
}

// bruteKeep decides one item directly from the specification, with a scan of the whole
// history.
func bruteKeep(p Policy, items []Item, i int) bool {
	it := items[i]
	rule, ruled := p[it.Trigger]
	if i == 0 || it.Pinned || !ruled || rule.Keep < 0 {
		return true
	}
	newerResumable, newerInGroup := 0, 0
	for _, other := range items[:i] {
		if other.Valid && other.Resumable {
			newerResumable++
		}
		if other.Trigger == it.Trigger && (!rule.PerPhase || other.Phase == it.Phase) {
			newerInGroup++
		}
	}
	if it.Valid && it.Resumable && newerResumable == 0 {
		return true
	}
	return newerInGroup < rule.Keep
}

// TestPlanMatchesBruteForce compares Plan with bruteKeep on random histories.
func TestPlanMatchesBruteForce(t *testing.T) {
	dropped := 0
	for seed := range int64(histories) {
		p, items := random(rand.New(rand.NewSource(seed)))
		for i, d := range Plan(p, items) {
			require.Equal(t, bruteKeep(p, items, i), d.Keep, "seed %d, item %d: %s", seed, i, d.Rule)
			if !d.Keep {
				dropped++
			}
		}
	}
	require.Greater(t, dropped, histories, "the histories must give planning something to do")
}

func kept(items []Item, ds []Decision) []Item {
	var out []Item
	for i, d := range ds {
		if d.Keep {
			out = append(out, items[i])
		}
	}
	return out
}

// TestPlanInvariants checks invariants of Plan on random histories and policies.
func TestPlanInvariants(t *testing.T) {
	for seed := range int64(histories) {
		r := rand.New(rand.NewSource(seed))
		p, items := random(r)
		before := slices.Clone(items)
		ds := Plan(p, items)
		require.Equal(t, before, items, "seed %d: input unchanged", seed)
		require.Len(t, ds, len(items))

		alwaysKept(t, seed, items, ds)
		left := kept(items, ds)
		require.Empty(t, dropped(Plan(p, left)), "seed %d: planning twice drops nothing more", seed)
		require.Empty(t, dropped(Plan(keepAll(), items)), "seed %d: -1 removes nothing", seed)
		monotone(t, seed, r, p, items, ds)
		r.Shuffle(len(items), func(i, j int) { items[i].Created, items[j].Created = items[j].Created, items[i].Created })
		require.Equal(t, ds, Plan(p, items), "seed %d: times do not matter", seed)
	}
}

func alwaysKept(t *testing.T, seed int64, items []Item, ds []Decision) {
	t.Helper()
	resumable := false
	for i, it := range items {
		pick := it.Valid && it.Resumable && !resumable
		resumable = resumable || pick
		if i == 0 || pick || it.Pinned {
			require.True(t, ds[i].Keep, "seed %d, item %d", seed, i)
		}
	}
}

// monotone checks that neither a more generous policy nor an additional pin drops a kept
// checkpoint.
func monotone(t *testing.T, seed int64, r *rand.Rand, p Policy, items []Item, ds []Decision) {
	t.Helper()
	more := maps.Clone(p)
	for trigger, rule := range more {
		if rule.Keep >= 0 {
			rule.Keep += r.Intn(3)
			more[trigger] = rule
		}
	}
	pinned := slices.Clone(items)
	if len(pinned) > 0 {
		pinned[r.Intn(len(pinned))].Pinned = true
	}
	generous, pins := Plan(more, items), Plan(p, pinned)
	for i, d := range ds {
		if d.Keep {
			require.True(t, generous[i].Keep, "seed %d, item %d: more generous policy", seed, i)
			require.True(t, pins[i].Keep, "seed %d, item %d: one more pin", seed, i)
		}
	}
}

func keepAll() Policy {
	p := Policy{}
	for _, t := range initials {
		p[t] = Rule{Keep: All, PerPhase: true}
	}
	return p
}
