package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/doctor"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/restore"
	"git-checkpoint/gitstore/internal/secrets"
	"git-checkpoint/gitstore/internal/share"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/trace"
)

// Options select the repository, and replace clocks and other sources in tests. The zero
// value opens the repository of the working directory.
type Options struct {
	Dir string           // start of the search for a repository, as in git -C
	Now func() time.Time // the clock; nil means time.Now

	Apart bool // protect git from terminal signals such as Ctrl+C

	// Asks reports whether git may prompt for a password while fetching objects of a
	// partial clone. Nil means no.
	Asks func() bool

	Notify func(line string) // receives messages about chains that other tools changed, and about their repair; may be nil

	// Repair makes reads of an issue restore first what other tools removed from its chain, for a
	// command that makes changes after it. Without it, reads change nothing, and Notify receives the
	// difference.
	Repair bool

	Empty bool // open an empty temporary repository, which Close removes, for a command that needs none

	Like *Store // open in the same directory: git is not asked again for the folders and the settings; may be nil
}

// A Store is a repository's checkpoints. It is used by one goroutine at a time. Any
// number of processes may use one repository at once.
type Store struct {
	Doctor   *doctor.Doctor     // checks, repairs and measures the stored checkpoints and the repository around them
	Files    *snapshot.Capturer // takes and opens states, and compares the files of the worktree with checkpoints, their records and HEAD
	Notes    Notes              // state files of commands
	Restorer *restore.Restorer  // a killed restore, and restores in other clones
	Facts    *facts.Facts       // branches, worktrees and clones

	repo    *repo.Repo
	chain   *chain.Chains
	secrets *secrets.Scanner
	log     *operation.Log
	sharer  *share.Sharer
}

// Open opens the repository. It fails with ErrNotRepository, or with an UnsupportedError
// that names the feature.
func Open(ctx context.Context, o Options) (*Store, error) {
	defer trace.Begin(trace.Step, "open the repository").End()
	own := repo.Options{Dir: o.Dir, Now: o.Now, Apart: o.Apart, Asks: o.Asks, Notify: o.Notify, Repair: o.Repair}
	if o.Like != nil {
		own.Like = o.Like.repo
	}
	open := repo.Open
	if o.Empty {
		open = repo.OpenEmpty
	}
	r, err := open(ctx, own)
	if err != nil {
		return nil, err
	}
	return newStore(r), nil
}

func newStore(r *repo.Repo) *Store {
	c := chain.New(r)
	n := snapshot.New(r, c)
	f := facts.New(r, c, n)
	l := operation.New(r)
	u := restore.New(r, c, n, f, l)
	return &Store{
		Doctor: doctor.New(r, c, n, f), Files: n, Notes: Notes{r}, Restorer: u, Facts: f,
		repo: r, chain: c, secrets: secrets.New(r, c), log: l, sharer: share.New(r, c, l),
	}
}

// Git returns a runner of git in the directory that the store was opened from.
func (s *Store) Git() git.Git { return s.repo.Git }

// Config returns git's configuration.
func (s *Store) Config() []git.ConfigEntry { return s.repo.Config }
