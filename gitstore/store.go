package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
)

// Options select the repository, and replace clocks and other sources in tests. The zero
// value opens the repository of the working directory.
type Options struct {
	Dir string           // start of the search for a repository, as in git -C
	Now func() time.Time // the clock; nil means time.Now

	ToSave bool // read the index at once, because a save follows
	Apart  bool // protect git from terminal signals such as Ctrl+C

	// Asks reports whether git may prompt for a password while fetching objects of a
	// partial clone. Nil means no.
	Asks func() bool

	Notify func(line string) // receives messages about automatic repairs, may be nil
}

func Open(ctx context.Context, o Options) (*Store, error) {
	_ = prefetchIndex(ctx, git.Git{}, repository.Info{})
	return openRepo(ctx, repoOptions{Dir: o.Dir})
}

// Git returns the runner of git in the directory of Options.Dir.
func (s *Store) Git() git.Git { return s.git }

// Config returns git's configuration.
func (s *Store) Config() []git.ConfigEntry { return s.config }
