package join

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const day = checkpoint.Clock(24 * 60 * 60 * 1e9)

// states returns random states of one issue that clones can reach. An active pin always
// refers to an existing checkpoint. Each checkpoint has one content, except the first,
// which is never pruned.
func states(r *rand.Rand, n int, span checkpoint.Clock) []State {
	ids := make([]checkpoint.ID, 3+r.IntN(6))
	for k := range ids {
		ids[k] = checkpoint.ID(fmt.Sprintf("CP-a-20260101T000000Z-%08x", k))
	}
	list := make([]State, n)
	for k := range list {
		list[k] = randomState(r, ids, span)
	}
	return list
}

func randomState(r *rand.Rand, ids []checkpoint.ID, span checkpoint.Clock) State {
	s := State{map[checkpoint.ID]Checkpoint{}, ledger.New()}
	clock := func() checkpoint.Clock { return 1000*day + checkpoint.Clock(r.Int64N(int64(span))) }
	for k, id := range ids {
		c := Checkpoint{1000*day + checkpoint.Clock(k/2), "a"}
		forged := k == 0
		if forged {
			c.Tree = []string{"a", "b", "c"}[r.IntN(3)]
		}
		if r.IntN(2) == 0 {
			s.Checkpoints[id] = c
		}
		if r.IntN(8) == 0 {
			s.Ledger.Deleted[id] = true
		}
		if r.IntN(8) == 0 {
			s.Ledger.Archived[id] = ledger.Archival{Reason: []string{"aged", "failed"}[r.IntN(2)], Clock: checkpoint.Clock(r.IntN(3))}
		}
		if !forged && r.IntN(4) == 0 {
			s.Ledger.Pruned[id] = clock()
		}
		if r.IntN(4) == 0 {
			_, there := s.Checkpoints[id]
			s.Ledger.Pins[id] = ledger.Pin{On: there && r.IntN(2) == 0, Clock: checkpoint.Clock(r.IntN(4))}
		}
	}
	return s
}

func assertSame(t *testing.T, want, got State, seed uint64, law string) {
	t.Helper()
	require.Equalf(t, want.Checkpoints, got.Checkpoints, "%s, seed %d", law, seed)
	require.Truef(t, want.Ledger.Equal(got.Ledger), "%s, seed %d:\n%s\n%s", law, seed, want.Ledger.Encode(), got.Ledger.Encode())
}

func TestJoinIsCommutativeAndAssociative(t *testing.T) {
	t.Parallel()
	const worlds = 8_000
	changed := 0
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := states(r, 3, 29*day)
		a, b, c := s[0], s[1], s[2]
		ab := MergeStates(a, b)
		assertSame(t, ab, MergeStates(b, a), seed, "commutative")
		assertSame(t, MergeStates(ab, c), MergeStates(a, MergeStates(b, c)), seed, "associative")
		assertSame(t, MergeStates(ab, c), MergeStates(a, b, c), seed, "all at once")
		assertSame(t, ab, MergeStates(ab, a), seed, "what is known changes nothing")
		assertSame(t, ab, MergeStates(ab, ab), seed, "idempotent")
		if len(ab.Checkpoints) != len(a.Checkpoints) {
			changed++
		}
	}
	assert.Greater(t, changed, worlds/10, "the joins have to change something")
}

// With expiry, merges in different order differ only in pruned checkpoints.
func TestJoinIsCommutativeWithExpiry(t *testing.T) {
	t.Parallel()
	const worlds = 8_000
	expired := 0
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := states(r, 3, 90*day)
		a, b, c := s[0], s[1], s[2]
		ab := MergeStates(a, b)
		assertSame(t, ab, MergeStates(b, a), seed, "commutative")
		assertSame(t, ab, MergeStates(ab, ab), seed, "idempotent")
		one, two := MergeStates(ab, c), MergeStates(a, MergeStates(b, c))
		for _, in := range s {
			for id := range in.Ledger.Pruned {
				delete(one.Checkpoints, id)
				delete(two.Checkpoints, id)
			}
			if len(in.Ledger.Pruned) > len(MergeStates(in).Ledger.Pruned) {
				expired++
			}
		}
		require.Equalf(t, one.Checkpoints, two.Checkpoints, "seed %d", seed)
		clear(one.Ledger.Pruned)
		clear(two.Ledger.Pruned)
		require.Truef(t, one.Ledger.Equal(two.Ledger), "seed %d", seed)
	}
	assert.Greater(t, expired, worlds/10, "lines have to expire")
}

// Each row merges ledger lines and checks whether the checkpoint survives.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	const id = "CP-a-20260101T000000Z-0000aaaa"
	for name, c := range map[string]struct {
		ledgers []string
		lives   bool
	}{
		"nothing":               {nil, true},
		"deleted":               {[]string{"deleted " + id}, false},
		"archived":              {[]string{"archived " + id}, false},
		"pruned":                {[]string{"pruned " + id + " 5"}, false},
		"pin beats pruned":      {[]string{"pruned " + id + " 5", "pin " + id + " on 1"}, true},
		"unpinned, pruned":      {[]string{"pruned " + id + " 5", "pin " + id + " on 1", "pin " + id + " off 2"}, false},
		"archived beats pin":    {[]string{"archived " + id, "pin " + id + " on 1"}, false},
		"deleted beats pin":     {[]string{"deleted " + id, "pin " + id + " on 1"}, false},
		"pinned again":          {[]string{"pruned " + id + " 5", "pin " + id + " on 3", "pin " + id + " off 2"}, true},
		"unpinned, not pruned":  {[]string{"pin " + id + " off 2"}, true},
		"deleted, not archived": {[]string{"deleted " + id, "archived " + id}, false},
	} {
		t.Run(name, func(t *testing.T) {
			states := []State{{Checkpoints: map[checkpoint.ID]Checkpoint{id: {Clock: 1, Tree: "a"}}}}
			for _, line := range c.ledgers {
				l, err := ledger.Parse([]byte(line + "\n"))
				require.NoError(t, err)
				states = append(states, State{Ledger: l})
			}
			_, lives := MergeStates(states...).Checkpoints[id]
			assert.Equal(t, c.lives, lives)
		})
	}
}

func TestPrunedExpiresAgainstTheNewestClock(t *testing.T) {
	t.Parallel()
	old := State{Ledger: ledger.New()}
	old.Ledger.Pruned["x-1"] = 100 * day
	at := func(c checkpoint.Clock) State {
		return State{Checkpoints: map[checkpoint.ID]Checkpoint{"y-1": {Clock: c}}}
	}
	assert.Contains(t, MergeStates(old, at(130*day)).Ledger.Pruned, checkpoint.ID("x-1"))
	assert.NotContains(t, MergeStates(old, at(130*day+1)).Ledger.Pruned, checkpoint.ID("x-1"))
	newer := State{Ledger: ledger.New()}
	newer.Ledger.Pruned["z-1"] = 131 * day
	assert.Equal(t, map[checkpoint.ID]checkpoint.Clock{"z-1": 131 * day}, MergeStates(old, newer).Ledger.Pruned)
}

func TestOrder(t *testing.T) {
	t.Parallel()
	s := State{Checkpoints: map[checkpoint.ID]Checkpoint{"b-1": {Clock: 2}, "c-1": {Clock: 1}, "a-1": {Clock: 2}}}
	assert.Equal(t, []checkpoint.ID{"c-1", "a-1", "b-1"}, s.Order())
	assert.Empty(t, State{}.Order())
}

func TestLargerTreeWins(t *testing.T) {
	t.Parallel()
	has := func(tree string) State { return State{Checkpoints: map[checkpoint.ID]Checkpoint{"x-1": {1, tree}}} }
	assert.Equal(t, "b", MergeStates(has("a"), has("b")).Checkpoints["x-1"].Tree)
	assert.Equal(t, "b", MergeStates(has("b"), has("a")).Checkpoints["x-1"].Tree)
}

func TestMergeStatesSharesNothing(t *testing.T) {
	t.Parallel()
	a := State{Checkpoints: map[checkpoint.ID]Checkpoint{"x-1": {1, "a"}}, Ledger: ledger.New()}
	s := MergeStates(a)
	s.Checkpoints["y-1"], s.Ledger.Deleted["y-1"] = Checkpoint{}, true
	assert.Len(t, a.Checkpoints, 1)
	assert.Empty(t, a.Ledger.Deleted)
}

func TestMerge(t *testing.T) {
	t.Parallel()
	has := func(ids ...checkpoint.ID) State {
		s := State{Checkpoints: map[checkpoint.ID]Checkpoint{}}
		for _, id := range ids {
			s.Checkpoints[id] = Checkpoint{1, "a"}
		}
		return s
	}
	dropped := has("x-1")
	dropped.Ledger = ledger.New()
	dropped.Ledger.Deleted["y-1"] = true
	forgot := has("x-1", "y-1")
	forgot.Ledger = ledger.New()
	forgot.Ledger.Deleted["y-1"] = true
	for name, c := range map[string]struct {
		chains []Chain
		want   int
	}{
		"none":                   {nil, -1},
		"no chain says nothing":  {[]Chain{{}, {}}, -1},
		"one":                    {[]Chain{{"b", has("x-1")}, {}}, 0},
		"the other has more":     {[]Chain{{"a", has("x-1")}, {"b", has("x-1", "y-1")}}, 1},
		"each has some":          {[]Chain{{"a", has("x-1")}, {"b", has("y-1")}}, -1},
		"the same, smaller tip":  {[]Chain{{"b", has("x-1")}, {"a", has("x-1")}}, 1},
		"a drop is more":         {[]Chain{{"a", has("x-1", "y-1")}, {"b", dropped}}, 1},
		"the dead are still in":  {[]Chain{{"a", forgot}}, -1},
		"an empty chain is one":  {[]Chain{{}, {"a", State{}}}, 1},
		"what is gone is no tip": {[]Chain{{"", has("x-1")}}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, as := Merge(c.chains...)
			assert.Equal(t, c.want, as)
		})
	}
}

// Clones with equal archives keep the same commits, in whatever order they compare them.
func TestPick(t *testing.T) {
	t.Parallel()
	want := State{Checkpoints: map[checkpoint.ID]Checkpoint{"x-1": {1, "a"}}}
	a, b, other, none := Chain{"a", want}, Chain{"b", want}, Chain{"0", State{}}, Chain{"", want}
	assert.Equal(t, 1, Pick(want, b, a))
	assert.Equal(t, 0, Pick(want, a, b))
	assert.Equal(t, 3, Pick(want, other, none, b, a))
	assert.Equal(t, -1, Pick(want, other, none))
}
