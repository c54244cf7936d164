package gitstore

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/objects"
)

// Options say which repository to open and where values come from that a test
// wants to fix. The zero value opens the repository of the working directory.
type Options struct {
	Dir string           // where to look for a repository, as git -C
	Now func() time.Time // the clock, time.Now when nil

	ToSave bool // read the staging area at once: it is going to be saved
	Apart  bool // keep what a terminal sends, as for Ctrl+C, away from git

	Notify func(line string) // is told what the store did unasked, nil for nobody
}

// A Store is a repository's checkpoints. It is used by one goroutine at a
// time; any number of processes may use one repository at once.
type Store struct {
	git     gitcmd.Git
	now     func() time.Time
	random  func() string // makes ids differ
	repo    repository
	config  []gitcmd.Entry
	objects *objects.Store
	early   <-chan *area        // the staging area, read while the repository was opened
	packed  []byte              // packed-refs, while it is held
	turn    *turn               // while refs of an issue are moved
	guessed map[string]identity // what git makes of a machine without an identity
	notify  func(line string)   // Options.Notify

	temporary string // a folder to remove in the end, "" for none
	watch     func(done, total int)
}

// repository is what git says about the repository.
type repository struct {
	dir       string // $GIT_DIR: of this worktree
	commonDir string // $GIT_COMMON_DIR
	index     string // the staging area's file
	objectDir string
	bare      bool
	shallow   bool
	prefix    string // the working directory below the root, "" or "a/b/"
	root      string // of the worktree, "" in a bare repository
	refFormat string // files or reftable
}

// Open finds the repository. It fails with ErrNotRepository, or with an
// UnsupportedError that names the feature.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{git: gitcmd.Git{Dir: o.Dir, Apart: o.Apart}, now: o.Now, random: rand.Text, notify: o.Notify}
	if s.now == nil {
		s.now = time.Now
	}
	var guessed repository
	repo, entries, err := locate(ctx, s.git, func(r repository) {
		if guessed = r; o.ToSave {
			s.early = readEarly(ctx, s.git, r)
		}
	})
	if err != nil {
		return nil, err
	}
	s.repo, s.config = repo, entries
	s.git = s.git.With(repo.environ()...)
	if err := s.checkExtensions(); err != nil {
		return nil, err
	}
	if repo != guessed || s.repo.refFormat != "files" || s.partial() {
		s.early = nil
	}
	return s, s.openObjects()
}

// checkExtensions refuses what this program cannot read. Extensions that git
// itself does not know never come this far.
func (s *Store) checkExtensions() error {
	s.repo.refFormat = "files"
	for _, e := range s.config {
		name, found := strings.CutPrefix(e.Key, "extensions.")
		if !found || e.Scope != "local" && e.Scope != "worktree" {
			continue
		}
		switch name {
		case "noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees":
		case "objectformat":
			if strings.ToLower(e.Value) != "sha1" {
				return &UnsupportedError{Feature: strings.ToUpper(strings.Replace(e.Value, "sha", "sha-", 1)) + " objects"}
			}
		case "refstorage":
			s.repo.refFormat, _, _ = strings.Cut(e.Value, "://")
		default:
			return &UnsupportedError{Feature: "extensions." + name}
		}
	}
	return nil
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
		Dir:         s.repo.objectDir,
		Shared:      bits,
		SharedExact: exact,
		Promisor:    s.partial(),
		Git: func(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
			return s.git.Pipe(ctx, stdin, args...)
		},
	}
	s.objects, err = objects.Open(c)
	return err
}

// alternates are the object directories that the environment adds.
func alternates() []string {
	return objects.SplitAlternates(os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"))
}

// partial reports whether the repository is a partial clone.
func (s *Store) partial() bool {
	return slices.ContainsFunc(s.config, func(e gitcmd.Entry) bool {
		return e.Key == "extensions.partialclone" || strings.HasSuffix(e.Key, ".promisor") && gitcmd.Bool(e.Value)
	})
}

// Close releases what Open and the reads after it mapped.
func (s *Store) Close() error {
	err := s.objects.Close()
	if s.temporary != "" {
		err = errors.Join(err, os.RemoveAll(s.temporary))
	}
	return err
}

// Watch has f told how far what takes long has come.
func (s *Store) Watch(f func(done, total int)) { s.watch = f }

// come tells whoever watches.
func (s *Store) come(done, total int) {
	if s.watch != nil {
		s.watch(done, total)
	}
}

// Git runs git in the directory the store was opened from.
func (s *Store) Git() gitcmd.Git { return s.git }

// Config is git's configuration.
func (s *Store) Config() []gitcmd.Entry { return s.config }

// Root is the root of the worktree, "" in a bare repository.
func (s *Store) Root() string { return s.repo.root }

// CommonDir is the repository's folder, which linked worktrees share.
func (s *Store) CommonDir() string { return s.repo.commonDir }

// GitDir is the folder of this worktree's own files.
func (s *Store) GitDir() string { return s.repo.dir }

// Prefix is the working directory below Root, "" or ending in a slash.
func (s *Store) Prefix() string { return s.repo.prefix }

// Shallow reports whether history is cut.
func (s *Store) Shallow() bool { return s.repo.shallow }

// CacheDir is for what can be fetched again, of all worktrees. It need not
// exist.
func (s *Store) CacheDir() string { return filepath.Join(s.repo.commonDir, "git-checkpoint", "cache") }

// stateDir holds this worktree's own files: the session, journals, what was
// resumed.
func (s *Store) stateDir() string { return filepath.Join(s.repo.dir, "git-checkpoint") }
