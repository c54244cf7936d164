package snapshot

import (
	"context"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/treediff"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Pair is two checkpoints to compare. A nil From is HEAD at the save of To.
type Pair struct{ From, To *chain.Checkpoint }

// Totals has the numbers of changed files and lines.
type Totals = treediff.Totals

// TotalsOf counts the changed files and lines of pairs of checkpoints, with one git process.
// The totals of a pair that cannot be read are nil.
func (s *Capturer) TotalsOf(ctx context.Context, pairs []Pair) []*Totals {
	totals := make([]*Totals, len(pairs))
	counted, err := s.count(ctx, pairs)
	if err != nil && len(pairs) > 1 { // one pair must not hide the others
		for i := range pairs {
			totals[i] = s.TotalsOf(ctx, pairs[i:i+1])[0]
		}
	}
	for i := range counted {
		totals[i] = &counted[i]
	}
	return totals
}

func (s *Capturer) count(ctx context.Context, pairs []Pair) ([]Totals, error) {
	sides := map[plumbing.Hash]treediff.Side{}
	side := func(c *chain.Checkpoint) (treediff.Side, error) {
		found, ok := sides[c.Commit]
		if ok {
			return found, nil
		}
		found, err := s.side(c)
		sides[c.Commit] = found
		return found, err
	}
	list := make([]treediff.Pair, len(pairs))
	for i, p := range pairs {
		var err error
		if p.From == nil {
			list[i].From, err = s.sideBefore(nil, p.To)
		} else {
			list[i].From, err = side(p.From)
		}
		if err == nil {
			list[i].To, err = side(p.To)
		}
		if err != nil {
			return nil, err
		}
	}
	return treediff.TotalsOf(ctx, s.diffSource(), list)
}
