package join

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
	s := State{map[Member]Checkpoint{}, ledger.New()}
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)+"\n") }
	for k, id := range ids {
		m, c := Member{id, content("a")}, Checkpoint{1000*day + checkpoint.Clock(k/2), string(ids[r.IntN(len(ids))])}
		forged := k == 0
		if forged {
			m.Content = content([]string{"a", "b", "c"}[r.IntN(3)])
		}
		if c.After = string(ids[k/2]); k == 0 {
			c.After = None
		}
		there := r.IntN(2) == 0
		if there {
			s.Members[m] = c
		}
		if r.IntN(8) == 0 {
			say("set deleted %s %s", id, []string{"*", content("a"), content("b")}[r.IntN(3)])
		}
		if r.IntN(8) == 0 {
			say("last archived %s 1 %d", id, r.IntN(3))
		}
		if !forged && r.IntN(4) == 0 {
			say("set pruned %s %d", id, 1000*day+checkpoint.Clock(r.Int64N(int64(span))))
		}
		if r.IntN(4) == 0 {
			on := 0
			if there {
				on = r.IntN(2)
			}
			say("last pin %s %d %d", id, on, r.IntN(4))
		}
		if r.IntN(4) == 0 {
			say("set link %s %d", id, r.IntN(3))
		}
	}
	slices.Sort(lines)
	s.Ledger, _ = ledger.Parse([]byte(strings.Join(lines, "")))
	return s
}

// content returns a content for a letter.
func content(letter string) string { return strings.Repeat(letter, 64) }

func assertSame(t *testing.T, want, got State, seed uint64, law string) {
	t.Helper()
	require.Equalf(t, want.Members, got.Members, "%s, seed %d", law, seed)
	require.Equalf(t, want.Order(), got.Order(), "%s, seed %d", law, seed)
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
		if len(ab.Members) != len(a.Members) {
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
			wasPruned := func(m Member, _ Checkpoint) bool { return in.Ledger.IsPruned(m.ID) }
			maps.DeleteFunc(one.Members, wasPruned)
			maps.DeleteFunc(two.Members, wasPruned)
			if len(in.Ledger.IDs(ledger.Pruned)) > len(MergeStates(in).Ledger.IDs(ledger.Pruned)) {
				expired++
			}
		}
		require.Equalf(t, one.Members, two.Members, "seed %d", seed)
		one.Ledger.Expire(math.MaxInt64)
		two.Ledger.Expire(math.MaxInt64)
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
		"deleted":               {[]string{"set deleted " + id + " *"}, false},
		"this content deleted":  {[]string{"set deleted " + id + " " + content("a")}, false},
		"another one deleted":   {[]string{"set deleted " + id + " " + content("b")}, true},
		"archived":              {[]string{"last archived " + id + " 1 1"}, false},
		"brought back":          {[]string{"last archived " + id + " 1 1", "last archived " + id + " 0 1"}, true},
		"pruned":                {[]string{"set pruned " + id + " 5"}, false},
		"pin beats pruned":      {[]string{"set pruned " + id + " 5", "last pin " + id + " 1 1"}, true},
		"unpinned, pruned":      {[]string{"set pruned " + id + " 5", "last pin " + id + " 1 1", "last pin " + id + " 0 2"}, false},
		"archived beats pin":    {[]string{"last archived " + id + " 1 1", "last pin " + id + " 1 1"}, false},
		"deleted beats pin":     {[]string{"set deleted " + id + " *", "last pin " + id + " 1 1"}, false},
		"pinned again":          {[]string{"set pruned " + id + " 5", "last pin " + id + " 1 3", "last pin " + id + " 0 2"}, true},
		"unpinned, not pruned":  {[]string{"last pin " + id + " 0 2"}, true},
		"deleted, not archived": {[]string{"set deleted " + id + " *", "last archived " + id + " 0 3"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			states := []State{{Members: map[Member]Checkpoint{{id, content("a")}: {Clock: 1}}}}
			for _, line := range c.ledgers {
				l, err := ledger.Parse([]byte(line + "\n"))
				require.NoError(t, err)
				states = append(states, State{Ledger: l})
			}
			_, lives := MergeStates(states...).Members[Member{id, content("a")}]
			assert.Equal(t, c.lives, lives)
		})
	}
}

func TestPrunedExpiresAgainstTheNewestClock(t *testing.T) {
	t.Parallel()
	old := State{Ledger: ledger.New()}
	old.Ledger.Prune("x-1", 100*day, "")
	at := func(c checkpoint.Clock) State {
		return State{Members: map[Member]Checkpoint{{"y-1", ""}: {Clock: c}}}
	}
	assert.True(t, MergeStates(old, at(130*day)).Ledger.IsPruned("x-1"))
	assert.False(t, MergeStates(old, at(130*day+1)).Ledger.IsPruned("x-1"))
	newer := State{Ledger: ledger.New()}
	newer.Ledger.Prune("z-1", 131*day, "")
	assert.Equal(t, []checkpoint.ID{"z-1"}, MergeStates(old, newer).Ledger.IDs(ledger.Pruned))
}

// Each row has members as "id clock after", and facts; the order is that of the ids.
func TestOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		members, facts []string
		want           string
	}{
		"nothing":                 {nil, nil, ""},
		"by clock, then by id":    {[]string{"b 2 none", "c 1 none", "a 2 none"}, nil, "c a b"},
		"what it came after":      {[]string{"a 1 b", "b 9 none"}, nil, "b a"},
		"through two":             {[]string{"a 1 b", "b 2 c", "c 9 none", "d 3 none"}, nil, "d c b a"},
		"a missing one":           {[]string{"a 1 x", "b 9 none"}, nil, "a b"},
		"a deleted one":           {[]string{"a 1 x", "b 9 none"}, []string{"set deleted x * b"}, "b a"},
		"a deleted and a pruned":  {[]string{"a 1 x", "b 9 none"}, []string{"set deleted x * y", "set pruned y 1 b"}, "b a"},
		"a cycle, by clock":       {[]string{"a 2 b", "b 1 a"}, nil, "b a"},
		"above a cycle":           {[]string{"a 2 b", "b 3 a", "c 1 a"}, nil, "a c b"},
		"a cycle of missing ones": {[]string{"a 2 x", "b 1 none"}, []string{"set deleted x * y", "set deleted y * x"}, "b a"},
		"itself":                  {[]string{"a 2 a", "b 1 none"}, nil, "b a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := State{Members: map[Member]Checkpoint{}, Ledger: ledger.New()}
			for _, text := range c.members {
				f := strings.SplitN(text, " ", 3)
				clock, _ := checkpoint.ParseClock(f[1])
				s.Members[Member{checkpoint.ID(f[0]), content("a")}] = Checkpoint{clock, f[2]}
			}
			for _, line := range c.facts {
				l, err := ledger.Parse([]byte(line + "\n"))
				require.NoError(t, err)
				s.Ledger.Add(l)
			}
			var got []string
			for _, m := range s.Order() {
				got = append(got, string(m.ID))
			}
			assert.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

// Two contents under one id are two members. A committer does not belong to the content: the later
// clock counts.
func TestTwoContents(t *testing.T) {
	t.Parallel()
	has := func(letter string, clock checkpoint.Clock) State {
		return State{Members: map[Member]Checkpoint{{"x-1", content(letter)}: {clock, None}}}
	}
	both := MergeStates(has("b", 1), has("a", 1))
	assert.Equal(t, []Member{{"x-1", content("a")}, {"x-1", content("b")}}, both.Order())
	assert.Equal(t, []checkpoint.ID{"x-1"}, both.Doubles())
	for _, s := range []State{MergeStates(has("a", 1), has("a", 2)), MergeStates(has("a", 2), has("a", 1))} {
		assert.Equal(t, has("a", 2).Members, s.Members)
		assert.Empty(t, s.Doubles())
	}
}

func TestMergeStatesSharesNothing(t *testing.T) {
	t.Parallel()
	a := State{Members: map[Member]Checkpoint{{"x-1", "a"}: {1, None}}, Ledger: ledger.New()}
	s := MergeStates(a)
	s.Members[Member{"y-1", ""}] = Checkpoint{}
	s.Ledger.Delete("y-1", "")
	assert.Len(t, a.Members, 1)
	assert.True(t, a.Ledger.IsEmpty())
}

func TestMerge(t *testing.T) {
	t.Parallel()
	has := func(ids ...checkpoint.ID) State {
		s := State{Members: map[Member]Checkpoint{}}
		for _, id := range ids {
			s.Members[Member{id, "a"}] = Checkpoint{1, None}
		}
		return s
	}
	dropped := has("x-1")
	dropped.Ledger = ledger.New()
	dropped.Ledger.Delete("y-1", "")
	forgot := has("x-1", "y-1")
	forgot.Ledger = ledger.New()
	forgot.Ledger.Delete("y-1", "")
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
	want := State{Members: map[Member]Checkpoint{{"x-1", "a"}: {1, None}}}
	a, b, other, none := Chain{"a", want}, Chain{"b", want}, Chain{"0", State{}}, Chain{"", want}
	assert.Equal(t, 1, Pick(want, b, a))
	assert.Equal(t, 0, Pick(want, a, b))
	assert.Equal(t, 3, Pick(want, other, none, b, a))
	assert.Equal(t, -1, Pick(want, other, none))
}
