package gitstore

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/internal/capture"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/index"
)

// A stagedState holds HEAD and the index.
type stagedState struct {
	head head
	*capture.Area
}

// stagedState returns HEAD and the index, read now or by Open.
func (s *Store) stagedState(ctx context.Context) (*stagedState, error) {
	if s.prefetchedIndex != nil {
		a := <-s.prefetchedIndex
		s.prefetchedIndex = nil
		if a != nil {
			return a, nil
		}
	}
	return s.readStagedState(ctx)
}

// prefetchIndex reads the index of the discovered repository, while git reads its
// configuration. It ignores errors: Save repeats the read and reports them.
func prefetchIndex(ctx context.Context, g git.Git, guess repository.Info) <-chan *stagedState {
	done := make(chan *stagedState, 1)
	go func() {
		var a *stagedState
		s, err := openGuessed(g, guess)
		if err == nil {
			a, err = newSnapshots(s).readStagedState(ctx)
			s.objects.Close()
		}
		if err != nil {
			a = nil
		}
		done <- a
	}()
	return done
}

type extraSnapshots struct {
	prefetchedIndex <-chan *stagedState
}

func newSnapshots(s *Store) *Store { return s }

func (s *Store) readStagedState(ctx context.Context) (*stagedState, error) {
	now, err := s.readHead(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := s.treeOf(now)
	if err != nil {
		return nil, err
	}
	x, done, err := s.openIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	a, err := capture.ReadArea(x, tree, s.objects)
	return &stagedState{now, a}, err
}

// openIndex reads the index. If its format is unsupported, git makes a supported copy.
func (s *Store) openIndex(ctx context.Context) (*index.Index, func(), error) {
	x, err := index.Open(s.repo.Index)
	done := func() { x.Close() }
	if errors.Is(err, index.ErrUnsupported) {
		run := func(ctx context.Context, env []string, args ...string) ([]byte, error) {
			return s.git.With(env...).Output(ctx, args...)
		}
		x, done, err = index.Plain(ctx, run, s.repo.Index, s.repo.Dir)
	}
	if err != nil {
		return nil, nil, err
	}
	x.Partial = repository.Partial(s.config)
	return x, done, nil
}
