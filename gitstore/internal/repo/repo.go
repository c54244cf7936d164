// Package repo opens a repository and holds what all operations on checkpoints share: git,
// the object database, refs and their locks, the configuration and the clock. It names the
// refs, reads and writes commits, and moves refs.
package repo

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

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/ident"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/refs"
)

// A Repo is an open repository: the parts that all operations share. It is used by one
// goroutine at a time. Any number of processes may use one repository at once.
type Repo struct {
	Git       git.Git
	Now       func() time.Time
	Random    func() string // makes ids unique
	Info      repository.Info
	Config    []git.ConfigEntry
	Objects   *odb.Database
	Refs      *refs.Reader      // refs shared by all worktrees
	together  *together         // collects moves, nil outside of Together
	IssueLock *refs.IssueLock   // held while refs of an issue move, otherwise nil
	Repairs   bool              // Options.Repair
	Recorder  Recorder          // of the running operation, may be nil
	people    *ident.Finder     // author and committer of commits
	onNotify  func(line string) // Options.Notify

	Opened      context.Context // context of Open, set in a partial clone
	quiet       bool            // git must not prompt for a password
	PromisedFor time.Duration   // timeout for the fetch of one object of a partial clone

	AtPoint func(point string) // called before and after refs move, for tests; may be nil

	temporary  string // folder that Close removes, "" if there is no such folder
	onProgress func(done, total int)
}

// Options are the options of Open, as gitstore.Options describes them. The zero value opens
// the repository of the working directory.
type Options struct {
	Dir    string
	Now    func() time.Time
	Apart  bool
	Asks   func() bool
	Notify func(line string)
	Repair bool
	Like   *Repo
}

// Open opens the repository. It fails with ErrNotRepository, or with an
// repository.UnsupportedError that names the feature.
func Open(ctx context.Context, o Options) (*Repo, error) {
	s := &Repo{Git: git.Git{Dir: o.Dir, Apart: o.Apart}, Now: o.Now, Random: rand.Text, onNotify: o.Notify, Repairs: o.Repair}
	if s.Now == nil {
		s.Now = time.Now
	}
	if o.Like != nil {
		s.Info, s.Config = o.Like.Info, o.Like.Config
	} else {
		repo, entries, err := repository.Find(ctx, s.Git)
		if err != nil {
			return nil, err
		}
		s.Info, s.Config = repo, entries
	}
	s.Git = s.Git.With(s.Info.Environ()...)
	if repository.Partial(s.Config) {
		s.LimitPromised(ctx, o.Asks == nil || !o.Asks())
	}
	s.people = &ident.Finder{Git: s.Git, Config: s.Config}
	s.openRefs()
	return s, s.OpenObjects()
}

// OpenEmpty creates an empty repository in a temporary folder, which Close removes, and opens it.
func OpenEmpty(ctx context.Context, o Options) (s *Repo, err error) {
	if o.Dir, err = os.MkdirTemp("", "git-checkpoint-empty-"); err != nil {
		return nil, err
	}
	g := git.Git{Dir: o.Dir, Unset: append(repository.Variables(), "GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT")}
	if _, err = g.Output(ctx, "init", "--quiet", "--template=", "--object-format="+objectformat.Name); err == nil {
		s, err = Open(ctx, o)
	}
	if err != nil {
		os.RemoveAll(o.Dir)
		return nil, fmt.Errorf("temporary repository: %w", err)
	}
	s.temporary = o.Dir
	return s, nil
}

func (s *Repo) openRefs() {
	share := func(paths ...string) { s.Objects.Share(paths...) }
	s.Refs = &refs.Reader{Git: s.Git, Path: s.Info.CommonDir, Files: s.Info.RefFormat == "files", Share: share, Notify: s.Notify}
}

func (s *Repo) OpenObjects() error {
	shared, _ := git.Last(s.Config, "core.sharedrepository")
	bits, exact, err := odb.ParseShared(shared)
	if err != nil {
		return err
	}
	c := odb.Config{Dir: s.Info.ObjectDir, Git: s.Git, Shared: bits, SharedExact: exact}
	if repository.Partial(s.Config) {
		c.Fetch = func(_ context.Context, stdin []byte, args ...string) ([]byte, error) {
			return s.fetchWithin(s.Opened, stdin, args...)
		}
	}
	s.Objects, err = odb.Open(c)
	return err
}

// Close ends the git that reads objects, and removes temporary files.
func (s *Repo) Close() error {
	s.Objects.Close()
	if s.temporary == "" {
		return nil
	}
	return os.RemoveAll(s.temporary)
}

// SetProgress sets the function that receives the progress of long operations.
func (s *Repo) SetProgress(f func(done, total int)) { s.onProgress = f }

// Progress reports progress to the function of SetProgress.
func (s *Repo) Progress(done, total int) {
	if s.onProgress != nil {
		s.onProgress(done, total)
	}
}

// RootGit returns a git that runs in the worktree root.
func (s *Repo) RootGit() git.Git {
	g := s.Git
	g.Dir = s.Info.Root
	return g
}

// Boundary returns the boundary of the worktree, for one operation.
func (s *Repo) Boundary(ctx context.Context) *repository.Boundary {
	b := s.Info.Boundary()
	b.Tracks = func(path string) bool {
		tracked, err := s.IsTracked(ctx, path)
		return err == nil && tracked
	}
	return b
}

// IsTracked reports whether git tracks a worktree file, or any file below a directory.
func (s *Repo) IsTracked(ctx context.Context, path string) (bool, error) {
	out, err := s.RootGit().Output(ctx, "--literal-pathspecs", "ls-files", "-z", "--", path)
	return len(out) > 0, err
}

// StateDir returns the folder for state of this worktree: the session, locks and
// resumptions.
func (s *Repo) StateDir() string { return filepath.Join(s.Info.Dir, "git-checkpoint") }

// WorktreeName returns the name of this worktree in refs: "_main", or "w-" and the encoded name of
// its folder below $GIT_COMMON_DIR/worktrees.
func (s *Repo) WorktreeName() string {
	name, err := filepath.Rel(filepath.Join(s.Info.CommonDir, "worktrees"), s.Info.Dir)
	if err != nil || strings.HasPrefix(name, "..") {
		return MainWorktree
	}
	return "w-" + checkpoint.Issue(name).RefName()
}

// MainWorktree is the name of the main worktree in refs.
const MainWorktree = "_main"

// WorktreeDir returns the git directory of the worktree with a name in refs, which may be removed. It
// returns "" if no worktree can have the name.
func (s *Repo) WorktreeDir(name string) string {
	if name == MainWorktree {
		return s.Info.CommonDir
	}
	linked, ok := strings.CutPrefix(name, "w-")
	folder, err := checkpoint.IssueFromRef(linked)
	if !ok || err != nil {
		return ""
	}
	return filepath.Join(s.Info.CommonDir, "worktrees", string(folder))
}

// WithIssueLocks runs f with issues locked. If locking fails, for example in a read-only repository, f runs
// without the lock.
func (s *Repo) WithIssueLocks(ctx context.Context, issues []checkpoint.Issue, f func() error) error {
	names := make([]string, len(issues))
	for k, issue := range issues {
		names[k] = issue.RefName()
	}
	return s.WithNamedLocks(ctx, names, f)
}

// WithNamedLocks runs f with several issues locked, by their names in refs.
func (s *Repo) WithNamedLocks(ctx context.Context, names []string, f func() error) error {
	if s.together == nil { // otherwise they are locked
		s.IssueLock = s.Refs.Lock(ctx, names)
		s.Refs.Release()
		defer func() {
			s.IssueLock.Unlock()
			s.IssueLock = nil
		}()
		if len(names) > 1 {
			s.CacheRefs(ctx)
			defer s.Refs.Release()
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}

// Notify passes a message about an automatic action to Options.Notify.
func (s *Repo) Notify(format string, args ...any) {
	if s.onNotify != nil {
		s.onNotify(fmt.Sprintf(format, args...))
	}
}

// Timeouts for a fetch of one object, longer if the user may have to type a password.
const (
	promisedFor      = 30 * time.Second
	promisedForAsked = 2 * time.Minute
)

// LimitPromised configures the fetches of a partial clone. If quiet is set, git does not prompt for
// passwords, since no user can answer. Every git command of a partial clone may fetch. A fetch ends with
// the context of Open, since a reader of objects has no context.
func (s *Repo) LimitPromised(ctx context.Context, quiet bool) {
	s.Opened, s.PromisedFor, s.quiet = ctx, promisedForAsked, quiet
	if quiet {
		s.PromisedFor = promisedFor
		s.Git = s.Git.With(git.NoQuestions(s.Config)...)
	}
	s.Git = s.Git.With(git.NoStall(s.Config)...)
}

// FetchPromised runs a git command that fetches objects of a partial clone.
func (s *Repo) FetchPromised(ctx context.Context, args ...string) ([]byte, error) {
	out, err := s.fetchWithin(ctx, nil, args...)
	if err != nil {
		return nil, failure.New(failure.Remote, "git fetch", "fetch from the promisor remote: "+err.Error())
	}
	return out, nil
}

// fetchWithin runs a git that fetches objects of a partial clone, within PromisedFor.
func (s *Repo) fetchWithin(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.PromisedFor)
	defer cancel()
	g := s.Git
	g.Apart = g.Apart || s.quiet // a hanging transport ends with git
	out, err := g.Pipe(ctx, stdin, args...)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("not done within %s", s.PromisedFor)
	}
	return nil, errors.New(git.Reason(err))
}

// Beside creates an empty repository that borrows objects and configuration from this
// repository. Remote-tracking data stays in the new repository.
func (s *Repo) Beside(ctx context.Context, dir string) (*Repo, error) {
	g := &Repo{Now: s.Now, Random: s.Random, people: s.people, onNotify: s.onNotify, temporary: dir}
	g.Info = repository.Info{
		Dir: dir, CommonDir: dir, ObjectDir: filepath.Join(dir, "objects"),
		Bare: true, Shallow: s.Info.Shallow, RefFormat: "files", Alternates: s.Info.Alternates,
	}
	g.Config = append(slices.Clone(s.Config), git.ConfigEntry{Key: "remote.glimpse.promisor", Value: "true"})
	g.Git = s.Git.With("GIT_DIR="+dir, "GIT_COMMON_DIR="+dir, "GIT_OBJECT_DIRECTORY="+g.Info.ObjectDir)
	g.Git.Unset = []string{"GIT_WORK_TREE", "GIT_REFERENCE_BACKEND"}
	if g.Git.Dir = s.Info.Root; g.Git.Dir == "" {
		g.Git.Dir = s.Info.CommonDir
	}
	g.openRefs()
	// The user's defaults for new repositories must not apply here.
	init := g.Git.With("GIT_DEFAULT_HASH="+objectformat.Name, "GIT_DEFAULT_REF_FORMAT=files")
	if _, err := init.Output(ctx, "init", "--quiet", "--bare", "--template="); err != nil {
		return nil, fmt.Errorf("open the remote: %w", err)
	}
	config := filepath.Join(dir, "config")
	own, err := os.ReadFile(config)
	if err != nil {
		return nil, err
	}
	included := quoted(filepath.ToSlash(filepath.Join(s.Info.CommonDir, "config")))
	text := fmt.Appendf(nil, "[include]\n\tpath = %s\n%s", included, own)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	if data, err := os.ReadFile(filepath.Join(s.Info.CommonDir, "shallow")); err == nil {
		if err := os.WriteFile(filepath.Join(dir, "shallow"), data, 0o600); err != nil {
			return nil, err
		}
	}
	info := filepath.Join(g.Info.ObjectDir, "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return nil, err
	}
	return g, os.WriteFile(filepath.Join(info, "alternates"), []byte(s.Info.ObjectDir+"\n"), 0o600)
}

// escapes are the escape sequences of a value in git's configuration. Git reads no others.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)

// quoted returns the text of a configuration file for any value.
func quoted(value string) string { return `"` + escapes.Replace(value) + `"` }
