package gitstore

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/index"
	"git-checkpoint/gitstore/objects"
	"git-checkpoint/gitstore/repository"
	"git-checkpoint/gitstore/snapshot"
)

// A stagedState holds HEAD and the staging area.
type stagedState struct {
	head head
	*snapshot.Area
}

// stagedState reads HEAD and the staging area, unless Open did so already.
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

// prefetchIndex reads the staging area of the guessed repository, while git is
// asked for its settings. What fails is done again, and told of, by Save.
func prefetchIndex(ctx context.Context, g gitcmd.Git, guessed repository.Info) <-chan *stagedState {
	done := make(chan *stagedState, 1)
	go func() {
		s := &Store{git: g, repo: guessed}
		s.openRefs()
		var a *stagedState
		store, err := objects.Open(objects.Config{Dir: guessed.ObjectDir, Alternates: alternates()})
		if err == nil {
			s.objects = store
			a, err = s.readStagedState(ctx)
			store.Close()
		}
		if err != nil {
			a = nil
		}
		done <- a
	}()
	return done
}

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
	a, err := snapshot.ReadArea(x, tree, s.objects)
	return &stagedState{now, a}, err
}

// openIndex reads the staging area, through a copy that git makes where it is
// stored in a way that this program does not read.
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
