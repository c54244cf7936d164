package capture

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/index"
	"git-checkpoint/gitstore/internal/repo"
)

// A StagedState holds HEAD and the index.
type StagedState struct {
	head repo.Head
	*Area
}

// stagedState returns HEAD and the index, read now or by Open.
func (s *Capturer) stagedState(ctx context.Context) (*StagedState, error) {
	if s.prefetchedIndex != nil {
		a := <-s.prefetchedIndex
		s.prefetchedIndex = nil
		if a != nil {
			return a, nil
		}
	}
	return s.readStagedState(ctx)
}

// PrefetchIndex reads the index of the discovered repository, while git reads its
// configuration. It ignores errors: Save repeats the read and reports them.
func PrefetchIndex(ctx context.Context, g git.Git, guess repository.Info) <-chan *StagedState {
	done := make(chan *StagedState, 1)
	go func() {
		var a *StagedState
		s, err := repo.OpenGuessed(g, guess)
		if err == nil {
			a, err = New(&chain.Chains{Repo: s}, nil).readStagedState(ctx)
			s.Objects.Close()
		}
		if err != nil {
			a = nil
		}
		done <- a
	}()
	return done
}

func (s *Capturer) readStagedState(ctx context.Context) (*StagedState, error) {
	now, err := s.ReadHead(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := s.TreeOf(now)
	if err != nil {
		return nil, err
	}
	x, done, err := s.OpenIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	a, err := ReadArea(x, tree, s.Objects)
	return &StagedState{now, a}, err
}

// OpenIndex reads the index. If its format is unsupported, git makes a supported copy.
func (s *Capturer) OpenIndex(ctx context.Context) (*index.Index, func(), error) {
	x, err := index.Open(s.Info.Index)
	done := func() { x.Close() }
	if errors.Is(err, index.ErrUnsupported) {
		run := func(ctx context.Context, env []string, args ...string) ([]byte, error) {
			return s.Git.With(env...).Output(ctx, args...)
		}
		x, done, err = index.Plain(ctx, run, s.Info.Index, s.Info.Dir)
	}
	if err != nil {
		return nil, nil, err
	}
	x.Partial = repository.Partial(s.Config)
	return x, done, nil
}
