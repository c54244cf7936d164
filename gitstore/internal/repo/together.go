package repo

import (
	"context"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// A together collects the moves of several operations.
type together struct {
	k     *ObjectWriter
	moves []refs.Move // each ref once
	at    map[string]int
}

// Together runs f with issues locked, see Store.Together. The operations in f read the new values of
// the refs that they move. A transaction for each operation would start git for each new ref.
func (s *Repo) Together(ctx context.Context, message string, issues []checkpoint.Issue, f func()) error {
	return s.WithIssueLocks(ctx, issues, func() error {
		t := &together{k: s.NewObjectWriter(), at: map[string]int{}}
		s.together, s.Refs.Pending = t, map[string]plumbing.Hash{}
		defer func() { s.together, s.Refs.Pending = nil, nil }()
		f()
		s.together, s.Refs.Pending = nil, nil
		moves := slices.DeleteFunc(t.moves, func(m refs.Move) bool { return m.Old == m.New })
		if len(moves) == 0 {
			return nil
		}
		ctx := context.WithoutCancel(ctx)
		if err := s.Move(ctx, t.k, message, func() ([]refs.Move, error) { return moves, nil }); err != nil {
			return err
		}
		return t.k.Protect(ctx)
	})
}

// move stores the objects of an operation and adds its moves. Move makes them later.
func (t *together) move(ctx context.Context, k *ObjectWriter, moves func() ([]refs.Move, error)) error {
	list, err := moves()
	if err != nil {
		return err
	}
	if err := k.Flush(ctx); err != nil { // later operations read the objects
		return err
	}
	k.batch.AddTo(t.k.batch)
	t.k.Records = t.k.Records || k.Records
	for _, m := range list {
		if at, moved := t.at[m.Name]; moved {
			t.moves[at].New = m.New
		} else {
			t.at[m.Name] = len(t.moves)
			t.moves = append(t.moves, m)
		}
		k.store.Refs.Pending[m.Name] = m.New
	}
	return nil
}
