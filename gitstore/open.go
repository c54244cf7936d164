package gitstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/ident"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/refs"
)

// A Store gives access to the checkpoints of a repository. One goroutine may use it at a
// time. Any number of processes may use one repository concurrently.
type Store struct {
	git     git.Git
	now     func() time.Time
	random  func() string // makes ids unique
	repo    repository.Info
	config  []git.ConfigEntry
	objects *odb.Database
	extraSnapshots
	refs      *refs.Reader                      // refs shared by all worktrees
	issueLock *refs.IssueLock                   // held while refs of an issue move, otherwise nil
	compared  map[checkpoint.Issue]comparedRefs // by restoreOwnChain, under this lock
	finished  []refs.Note                       // completed transactions of killed processes, under this lock
	people    *ident.Finder                     // author and committer of commits
	onNotify  func(line string)                 // Options.Notify

	opened      context.Context // context of Open, set in a partial clone
	quiet       bool            // git must not prompt for a password
	promisedFor time.Duration   // timeout for the fetch of one object of a partial clone

	temporary  string // folder that Close removes, "" if there is no such folder
	onProgress func(done, total int)
}

// repoOptions are the options of openRepo. Only Dir is required.
type repoOptions struct {
	Dir    string
	Now    func() time.Time
	Apart  bool
	Asks   func() bool
	Notify func(line string)

	// Guessed is called as soon as the location of the repository is likely, before
	// git confirms it. It may be nil.
	Guessed func(g git.Git, guess repository.Info)
}

// openRepo opens the repository. It fails with ErrNotRepository, or with an
// UnsupportedError that names the feature.
func openRepo(ctx context.Context, o repoOptions) (*Store, error) {
	s := &Store{git: git.Git{Dir: o.Dir, Apart: o.Apart}, now: o.Now, random: rand.Text, onNotify: o.Notify}
	if s.now == nil {
		s.now = time.Now
	}
	repo, entries, err := repository.Find(ctx, s.git, func(guess repository.Info) {
		if o.Guessed != nil {
			o.Guessed(s.git, guess)
		}
	})
	if err != nil {
		return nil, err
	}
	s.repo, s.config = repo, entries
	s.git = s.git.With(repo.Environ()...)
	if repository.Partial(s.config) {
		s.limitPromised(ctx, o)
	}
	s.people = &ident.Finder{Git: s.git, Config: s.config}
	s.openRefs()
	return s, s.openObjects()
}

// openGuessed opens a repository whose configuration is not known yet, to read from it.
// The caller must close it.
func openGuessed(g git.Git, guess repository.Info) (*Store, error) {
	s := &Store{git: g, repo: guess}
	s.openRefs()
	var err error
	s.objects, err = odb.Open(odb.Config{Dir: guess.ObjectDir, Alternates: alternates()})
	return s, err
}

func (s *Store) openRefs() {
	s.refs = &refs.Reader{Git: s.git, Path: s.repo.CommonDir, Files: s.repo.RefFormat == "files"}
}

func (s *Store) openObjects() error {
	shared, _ := git.Last(s.config, "core.sharedrepository")
	bits, exact, err := odb.ParseShared(shared)
	if err != nil {
		return err
	}
	method, _ := git.Last(s.config, "core.fsyncmethod")
	c := odb.Config{
		SyncEach:    method == "fsync",
		Alternates:  alternates(),
		Dir:         s.repo.ObjectDir,
		Shared:      bits,
		SharedExact: exact,
		Promisor:    repository.Partial(s.config),
		Git: func(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
			return s.git.Pipe(ctx, stdin, args...)
		},
		Fetch: s.fetchPromised,
	}
	s.objects, err = odb.Open(c)
	return err
}

// alternates returns the object directories of GIT_ALTERNATE_OBJECT_DIRECTORIES.
func alternates() []string {
	return odb.SplitAlternates(os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"))
}

// Close releases the memory maps of Open and later reads.
func (s *Store) Close() error {
	err := s.objects.Close()
	if s.temporary != "" {
		err = errors.Join(err, os.RemoveAll(s.temporary))
	}
	return err
}

// SetProgress sets the function that receives the progress of long operations.
func (s *Store) SetProgress(f func(done, total int)) { s.onProgress = f }

// progress reports progress to the function of SetProgress.
func (s *Store) progress(done, total int) {
	if s.onProgress != nil {
		s.onProgress(done, total)
	}
}

// Root returns the worktree's root, or "" in bare repositories.
func (s *Store) Root() string { return s.repo.Root }

// MainRoot returns the main worktree's root, or "" without a main worktree.
func (s *Store) MainRoot(ctx context.Context) (string, error) { return s.repo.MainRoot(ctx, s.git) }

// CommonDir returns the repository folder that all worktrees share.
func (s *Store) CommonDir() string { return s.repo.CommonDir }

// GitDir returns the git directory of this worktree.
func (s *Store) GitDir() string { return s.repo.Dir }

// Prefix returns the working directory relative to Root, either "" or with trailing
// slash.
func (s *Store) Prefix() string { return s.repo.Prefix }

// Shallow reports whether the repository is shallow.
func (s *Store) Shallow() bool { return s.repo.Shallow }

// CacheDir returns the folder for cached data, shared by all worktrees. It may not exist.
func (s *Store) CacheDir() string { return filepath.Join(s.repo.CommonDir, "git-checkpoint", "cache") }

// stateDir returns the folder for state of this worktree: the session, journals and
// resumptions.
func (s *Store) stateDir() string { return filepath.Join(s.repo.Dir, "git-checkpoint") }

// notify passes a message about an automatic action to Options.Notify.
func (s *Store) notify(format string, args ...any) {
	if s.onNotify != nil {
		s.onNotify(fmt.Sprintf(format, args...))
	}
}
