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
	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/ident"
	"git-checkpoint/gitstore/objects"
	"git-checkpoint/gitstore/refs"
	"git-checkpoint/gitstore/repository"
)

// Options say which repository to open and where values come from that a test
// wants to fix. The zero value opens the repository of the working directory.
type Options struct {
	Dir string           // where to look for a repository, as git -C
	Now func() time.Time // the clock, time.Now when nil

	ToSave bool // read the staging area at once: it is going to be saved
	Apart  bool // keep what a terminal sends, as for Ctrl+C, away from git

	// Asks reports whether there is somebody to ask for a password when git
	// fetches an object of a partial clone. Nil means nobody.
	Asks func() bool

	Notify func(line string) // is told what the store did unasked, nil for nobody
}

// A Store is a repository's checkpoints. It is used by one goroutine at a
// time; any number of processes may use one repository at once.
type Store struct {
	git             gitcmd.Git
	now             func() time.Time
	random          func() string // makes ids differ
	repo            repository.Info
	config          []gitcmd.ConfigEntry
	objects         *objects.Database
	prefetchedIndex <-chan *stagedState               // the staging area, read while the repository was opened
	refs            *refs.Reader                      // of all worktrees
	issueLock       *refs.IssueLock                   // while refs of an issue are moved
	compared        map[checkpoint.Issue]comparedRefs // by restoreOwnChain under this lock
	finished        []refs.Note                       // the transactions of killed processes that all refs of have moved, under this lock
	people          *ident.Finder                     // who commits are by
	onNotify        func(line string)                 // Options.Notify

	opened      context.Context // of Open, in a partial clone
	quiet       bool            // nobody can be asked for a password there
	promisedFor time.Duration   // bounds the fetch of one object of a partial clone

	temporary  string // a folder to remove in the end, "" for none
	onProgress func(done, total int)
}

// Open finds the repository. It fails with ErrNotRepository, or with an
// UnsupportedError that names the feature.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{git: gitcmd.Git{Dir: o.Dir, Apart: o.Apart}, now: o.Now, random: rand.Text, onNotify: o.Notify}
	if s.now == nil {
		s.now = time.Now
	}
	var guessed repository.Info
	repo, entries, err := repository.Find(ctx, s.git, func(r repository.Info) {
		if guessed = r; o.ToSave {
			s.prefetchedIndex = prefetchIndex(ctx, s.git, r)
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
	if repo != guessed || repository.Partial(s.config) {
		s.prefetchedIndex = nil
	}
	return s, s.openObjects()
}

func (s *Store) openRefs() {
	s.refs = &refs.Reader{Git: s.git, Path: s.repo.CommonDir, Files: s.repo.RefFormat == "files"}
}

func (s *Store) openObjects() error {
	shared, _ := gitcmd.Last(s.config, "core.sharedrepository")
	bits, exact, err := objects.ParseShared(shared)
	if err != nil {
		return err
	}
	method, _ := gitcmd.Last(s.config, "core.fsyncmethod")
	c := objects.Config{
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
	s.objects, err = objects.Open(c)
	return err
}

// alternates are the object directories that the environment adds.
func alternates() []string {
	return objects.SplitAlternates(os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"))
}

// Close releases what Open and the reads after it mapped.
func (s *Store) Close() error {
	err := s.objects.Close()
	if s.temporary != "" {
		err = errors.Join(err, os.RemoveAll(s.temporary))
	}
	return err
}

// SetProgress sets the function that long operations report their progress to.
func (s *Store) SetProgress(f func(done, total int)) { s.onProgress = f }

// progress reports progress to the function of SetProgress.
func (s *Store) progress(done, total int) {
	if s.onProgress != nil {
		s.onProgress(done, total)
	}
}

// Git runs git in the directory the store was opened from.
func (s *Store) Git() gitcmd.Git { return s.git }

// Config is git's configuration.
func (s *Store) Config() []gitcmd.ConfigEntry { return s.config }

// Root is the root of the worktree, "" in a bare repository.
func (s *Store) Root() string { return s.repo.Root }

// MainRoot is the root of the main worktree, "" where there is none.
func (s *Store) MainRoot(ctx context.Context) (string, error) { return s.repo.MainRoot(ctx, s.git) }

// CommonDir is the repository's folder, which linked worktrees share.
func (s *Store) CommonDir() string { return s.repo.CommonDir }

// GitDir is the folder of this worktree's own files.
func (s *Store) GitDir() string { return s.repo.Dir }

// Prefix is the working directory below Root, "" or ending in a slash.
func (s *Store) Prefix() string { return s.repo.Prefix }

// Shallow reports whether history is cut.
func (s *Store) Shallow() bool { return s.repo.Shallow }

// CacheDir is for what can be fetched again, of all worktrees. It need not
// exist.
func (s *Store) CacheDir() string { return filepath.Join(s.repo.CommonDir, "git-checkpoint", "cache") }

// stateDir holds this worktree's own files: the session, journals, what was
// resumed.
func (s *Store) stateDir() string { return filepath.Join(s.repo.Dir, "git-checkpoint") }

// tell gives whoever opened the store a line about what it did unasked.
func (s *Store) notify(format string, args ...any) {
	if s.onNotify != nil {
		s.onNotify(fmt.Sprintf(format, args...))
	}
}
