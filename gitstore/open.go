package gitstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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
	guessed map[string]identity // what git makes of a machine without an identity
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
	s := &Store{git: gitcmd.Git{Dir: o.Dir}, now: o.Now, random: rand.Text}
	if s.now == nil {
		s.now = time.Now
	}
	type configured struct {
		entries []gitcmd.Entry
		err     error
	}
	config := make(chan configured, 1)
	go func() {
		entries, err := s.git.Config(ctx)
		config <- configured{entries, err}
	}()
	repo, repoErr := discover(ctx, s.git)
	c := <-config
	if err := errors.Join(repoErr, c.err); err != nil {
		if repoErr != nil {
			return nil, repoErr
		}
		return nil, c.err
	}
	s.repo, s.config = repo, c.entries
	s.git = s.git.With(repo.environ()...)
	if err := s.checkExtensions(); err != nil {
		return nil, err
	}
	return s, s.openObjects()
}

// discover asks git where things are. The worktree's root comes last, since
// git stops there in a bare repository.
func discover(ctx context.Context, g gitcmd.Git) (repository, error) {
	out, err := g.Output(ctx, "rev-parse", "--git-dir", "--git-common-dir", "--git-path", "index",
		"--git-path", "objects", "--is-bare-repository", "--is-shallow-repository", "--show-prefix", "--show-toplevel")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) < 6 {
		return repository{}, fmt.Errorf("%w: %w", ErrNotRepository, cause(err))
	}
	if len(lines) > 8 {
		return repository{}, &UnsupportedError{Feature: "a line break in the repository's path"}
	}
	base := g.Dir
	if !filepath.IsAbs(base) {
		wd, err := os.Getwd()
		if err != nil {
			return repository{}, fmt.Errorf("find the working directory: %w", err)
		}
		base = filepath.Join(wd, base)
	}
	abs := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(base, path)
	}
	r := repository{
		dir: abs(lines[0]), commonDir: abs(lines[1]), index: abs(lines[2]), objectDir: abs(lines[3]),
		bare: lines[4] == "true", shallow: lines[5] == "true",
	}
	if len(lines) == 8 && err == nil {
		r.prefix, r.root = lines[6], abs(lines[7])
	}
	return r, nil
}

// environ fixes the variables of a hook that name places relative to where
// git was started, so that git can be run from the root as well.
func (r repository) environ() []string {
	var env []string
	for _, v := range []struct{ name, value string }{
		{"GIT_DIR", r.dir},
		{"GIT_COMMON_DIR", r.commonDir},
		{"GIT_WORK_TREE", r.root},
		{"GIT_INDEX_FILE", r.index},
		{"GIT_OBJECT_DIRECTORY", r.objectDir},
	} {
		if set := os.Getenv(v.name); set != "" && !filepath.IsAbs(set) && v.value != "" {
			env = append(env, v.name+"="+v.value)
		}
	}
	return env
}

func cause(err error) error {
	if err == nil {
		return errors.New("git answered nothing")
	}
	return err
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
	c := objects.Config{
		Dir:         s.repo.objectDir,
		Shared:      bits,
		SharedExact: exact,
		Promisor:    s.partial(),
		Git: func(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
			return s.git.Pipe(ctx, stdin, args...)
		},
	}
	if list := os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"); list != "" {
		c.Alternates = filepath.SplitList(list)
	}
	s.objects, err = objects.Open(c)
	return err
}

// partial reports whether the repository is a partial clone.
func (s *Store) partial() bool {
	return slices.ContainsFunc(s.config, func(e gitcmd.Entry) bool {
		return e.Key == "extensions.partialclone" || strings.HasSuffix(e.Key, ".promisor") && gitcmd.Bool(e.Value)
	})
}

// Close releases what Open and the reads after it mapped.
func (s *Store) Close() error { return s.objects.Close() }

// Git runs git in the directory the store was opened from.
func (s *Store) Git() gitcmd.Git { return s.git }

// Config is git's configuration.
func (s *Store) Config() []gitcmd.Entry { return s.config }

// Root is the root of the worktree, "" in a bare repository.
func (s *Store) Root() string { return s.repo.root }

// Prefix is the working directory below Root, "" or ending in a slash.
func (s *Store) Prefix() string { return s.repo.prefix }

// Shallow reports whether history is cut.
func (s *Store) Shallow() bool { return s.repo.shallow }

// stateDir holds this worktree's own files: the session, journals, what was
// resumed.
func (s *Store) stateDir() string { return filepath.Join(s.repo.dir, "git-checkpoint") }
