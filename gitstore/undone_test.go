package gitstore

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A model is the expected content of an issue, ids oldest first.
type model struct {
	live, archived, pruned []checkpoint.ID
	pinned                 map[checkpoint.ID]bool
	undo                   []model // expected state after each possible undo
}

func (m model) without(ids []checkpoint.ID) model {
	gone := func(id checkpoint.ID) bool { return slices.Contains(ids, id) }
	m.live = slices.DeleteFunc(slices.Clone(m.live), gone)
	m.archived = slices.DeleteFunc(slices.Clone(m.archived), gone)
	return m
}

// Random sequences of saves, drops, archivals, pins, prunes and undos match a simple model, in
// clock order.
func TestRandomOperationsMatchTheModel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t)
			p := &player{world: w, rng: rand.New(rand.NewPCG(seed, 9)), order: map[checkpoint.ID]int{}}
			p.m.pinned = map[checkpoint.ID]bool{}
			for step := range 40 {
				what := p.step()
				require.Equal(t, p.sorted(p.m.live), w.live(), "step %d: %s", step, what)
				require.Equal(t, p.sorted(p.m.archived), w.archived(), "step %d: %s", step, what)
				p.checkLedger(fmt.Sprintf("step %d: %s", step, what))
			}
			w.sound()
		})
	}
}

type player struct {
	*world
	rng   *rand.Rand
	m     model
	order map[checkpoint.ID]int
}

func (p *player) sorted(ids []checkpoint.ID) []checkpoint.ID {
	ids = append([]checkpoint.ID{}, ids...)
	slices.SortFunc(ids, func(a, b checkpoint.ID) int { return p.order[a] - p.order[b] })
	return ids
}

// checkLedger compares ledger entries of all checkpoints that ever existed.
func (p *player) checkLedger(what string) {
	p.t.Helper()
	c, err := p.s.chain.ReadChain(ctx, "42", LiveRef("42"), 0)
	require.NoError(p.t, err)
	for id := range p.order {
		live, archived := slices.Contains(p.m.live, id), slices.Contains(p.m.archived, id)
		require.Equal(p.t, archived, c.Ledger.IsArchived(id), "%s: archived %s", what, id)
		require.Equal(p.t, !live && !archived && !slices.Contains(p.m.pruned, id), c.Ledger.HasDeleted(id), "%s: deleted %s", what, id)
		if live {
			require.Equal(p.t, p.m.pinned[id], c.Find(id).Pinned, "%s: pin of %s", what, id)
		}
	}
}

// some returns one to three random ids, or no ids if the list is empty.
func (p *player) some(ids []checkpoint.ID) []checkpoint.ID {
	picked := slices.Clone(ids)
	p.rng.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked[:min(len(picked), 1+p.rng.IntN(3))]
}

// remember stores the state for a later undo.
func (p *player) remember() {
	before := p.m
	before.undo, before.pinned = nil, maps.Clone(p.m.pinned)
	p.m.undo = append(slices.Clone(p.m.undo), before)
}

func (p *player) step() string {
	p.t.Helper()
	switch n := p.rng.IntN(13); {
	case n < 5 || len(p.m.live)+len(p.m.archived) == 0:
		id := p.save(p.request(checkpoint.Manual)).ID
		p.order[id] = len(p.order)
		p.m.live = append(slices.Clone(p.m.live), id)
		return "save " + string(id)
	case n < 7:
		ids := p.some(append(slices.Clone(p.m.live), p.m.archived...))
		p.remember()
		p.m = p.m.without(ids)
		require.NoError(p.t, p.s.Drop(ctx, "42", ids))
		return fmt.Sprint("drop ", ids)
	case n < 9 && len(p.m.live) > 0:
		ids := p.some(p.m.live)
		p.remember()
		p.m = p.m.without(ids)
		p.m.archived = append(p.m.archived, ids...)
		_, err := p.s.Archive(ctx, "42", ids, retention.ReasonAsked)
		require.NoError(p.t, err)
		return fmt.Sprint("archive ", ids)
	case n < 10 && len(p.m.live) > 0:
		id := p.some(p.m.live)[0]
		p.remember()
		p.m.pinned[id] = !p.m.pinned[id]
		_, err := p.s.Pin(ctx, "42", id, p.m.pinned[id])
		require.NoError(p.t, err)
		return "pin " + string(id)
	case n == 10 && len(p.m.live) > 0:
		return p.prune()
	}
	return p.undo()
}

// prune keeps the newest checkpoints and all pinned ones.
func (p *player) prune() string {
	keep := 1 + p.rng.IntN(4)
	live := p.sorted(p.m.live)
	gone := slices.DeleteFunc(live[:max(0, len(live)-keep)], func(id checkpoint.ID) bool { return p.m.pinned[id] })
	done, err := p.s.Prune(ctx, PruneRequest{Issue: "42", Policy: retention.Policy{checkpoint.Manual: {Keep: keep}}})
	require.NoError(p.t, err)
	require.ElementsMatch(p.t, gone, done.Removed)
	if len(gone) > 0 {
		p.remember()
		p.m = p.m.without(gone)
		p.m.pruned = append(slices.Clone(p.m.pruned), gone...)
	}
	return fmt.Sprint("prune ", keep, gone)
}

// undo reverts one operation and preserves later saves.
func (p *player) undo() string {
	done, err := p.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	if len(p.m.undo) == 0 {
		require.ErrorIs(p.t, err, ErrNothingToUndo)
		return "undo nothing"
	}
	require.NoError(p.t, err)
	last := p.m.undo[len(p.m.undo)-1]
	undo := p.m.undo[:len(p.m.undo)-1]
	known := append(slices.Clone(last.live), last.archived...)
	for _, id := range p.m.live {
		if !slices.Contains(known, id) {
			last.live = append(slices.Clone(last.live), id)
		}
	}
	last.undo = undo
	p.m = last
	if !strings.HasSuffix(done.What, "pin") {
		assert.NotEmpty(p.t, done.IDs())
	}
	return fmt.Sprint("undo ", done.What, done.IDs())
}
