package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
)

// Sentinel errors of this package.
var (
	ErrNotRepository = repo.ErrNotRepository
	ErrNoRepository  = repository.ErrAbsent // an ErrNotRepository: there is none, also in parent directories
	ErrMoved         = repo.ErrMoved
	ErrNothingToUndo = repo.ErrNothingToUndo
	ErrNothingToRedo = repo.ErrNothingToRedo
	ErrUnchanged     = repo.ErrUnchanged
	ErrUnfinished    = repo.ErrUnfinished
	ErrNoRemote      = chain.ErrNoRemote // neither caller nor configuration names a remote
)

// Errors of this package. Their fields and meaning are at their declarations.
type (
	AmbiguousError    = repo.AmbiguousError
	CorruptError      = repo.CorruptError
	DoneError         = failure.DoneError
	NoneError         = repo.NoneError
	NotFoundError     = repo.NotFoundError
	ObjectFormatError = repository.ObjectFormatError
	PromisedError     = repo.PromisedError
	RefusedError      = repo.RefusedError
	RemoteError       = remote.Error
	TakenError        = repo.TakenError
	UnsupportedError  = repository.UnsupportedError
)

// ObjectFormat is git's name of the object format of the repositories that this package
// opens. It is sha256 in programs that are built with the tag sha256.
const ObjectFormat = objectformat.Name

// Branch returns the branch of HEAD, or "" if HEAD is detached.
func (s *Store) Branch(ctx context.Context) (string, error) { return s.repo.Branch(ctx) }

// ClearLock moves a lock file away that a killed git has left, and names it in a warning.
func (s *Store) ClearLock(path string) { s.repo.Refs.SetAside(path) }

// Close releases the memory maps of Open and later reads.
func (s *Store) Close() error { return s.repo.Close() }

// SetProgress sets the function that receives the progress of long operations.
func (s *Store) SetProgress(f func(done, total int)) { s.repo.SetProgress(f) }

// Root returns the worktree's root, or "" in bare repositories.
func (s *Store) Root() string { return s.repo.Info.Root }

// Environ returns variables with which a process in the directory Root opens this
// repository. They replace relative paths in the environment of this process.
func (s *Store) Environ() []string { return s.repo.Info.Environ() }

// CommonDir returns the repository folder that all worktrees share.
func (s *Store) CommonDir() string { return s.repo.Info.CommonDir }

// GitDir returns the git directory of this worktree.
func (s *Store) GitDir() string { return s.repo.Info.Dir }

// Prefix returns the working directory relative to Root, either "" or with trailing
// slash.
func (s *Store) Prefix() string { return s.repo.Info.Prefix }

// CacheDir returns the folder for cached data, shared by all worktrees. It may not exist.
func (s *Store) CacheDir() string { return s.repo.NotePath("cache") }

// Share sets the modes of files and directories as core.sharedRepository requires. It
// ignores errors, because files may belong to other users.
func (s *Store) Share(paths ...string) { s.repo.Objects.Share(paths...) }

// LiveRef returns the ref of an issue's chain.
func LiveRef(i checkpoint.Issue) string { return repo.LiveRef(i) }

// ArchiveRef returns the ref of an issue's archive.
func ArchiveRef(i checkpoint.Issue) string { return repo.ArchiveRef(i) }

// Session returns the session id of this worktree. Without a stored id, it stores the
// result of fresh.
func (s *Store) Session(fresh func() string) string {
	path := filepath.Join(s.repo.StateDir(), "session")
	if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
		return strings.TrimSpace(string(data))
	}
	id := fresh()
	_ = s.repo.WriteFile(path, []byte(id+"\n")) // an id that cannot be stored is still valid
	return id
}

// Tips returns the newest commit of each issue's chain, in hex. It reads loose refs
// without git, because git silently skips refs in a folder that it cannot open.
func (s *Store) Tips(ctx context.Context) (map[checkpoint.Issue]string, error) {
	refs, err := s.repo.Refs.Values(ctx, repo.LiveRefs)
	if err != nil {
		return nil, err
	}
	tips := make(map[checkpoint.Issue]string, len(refs))
	for name, tip := range refs {
		if i, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, repo.LiveRefs)); err == nil {
			tips[i] = tip.String()
		}
	}
	return tips, nil
}

// Git runs the git binary.
type Git = git.Git

// A GitVersion is the version of a git binary, as {2, 54}.
type GitVersion = git.Version

// InstalledGitVersion returns git's version.
func InstalledGitVersion() (GitVersion, error) { return git.InstalledVersion() }

// ParseGitVersion parses the output of `git version`.
func ParseGitVersion(line string) (GitVersion, error) { return git.ParseVersion(line) }

// A ConfigEntry is one entry of git's configuration.
type ConfigEntry = git.ConfigEntry

// LastEntry returns the last entry of key, which wins, and whether there is one.
func LastEntry(entries []ConfigEntry, key string) (ConfigEntry, bool) {
	return git.LastEntry(entries, key)
}

// Notes are small state files of commands, by name. All worktrees of the repository share
// them, except those of ReadHere and WriteHere.
type Notes struct{ repo *repo.Repo }

// Path returns the path of a note.
func (n Notes) Path(name string) string { return n.repo.NotePath(name) }

// Write replaces a note. Readers see either the old or the new content.
func (n Notes) Write(name string, data []byte) error {
	return n.repo.WriteFile(n.repo.NotePath(name), data)
}

// ReadHere returns a note of this worktree alone, or nil.
func (n Notes) ReadHere(name string) []byte {
	data, _ := os.ReadFile(filepath.Join(n.repo.StateDir(), name))
	return data
}

// WriteHere replaces a note of this worktree alone.
func (n Notes) WriteHere(name string, data []byte) error {
	return n.repo.WriteFile(filepath.Join(n.repo.StateDir(), name), data)
}

// Touch sets the time of an empty note, and creates the note if necessary.
func (n Notes) Touch(name string, at time.Time) error { return n.repo.TouchNote(name, at) }

// Lock acquires the lock of a note; release releases it. If another process holds the
// lock for long, Lock fails with *RefusedError.
func (n Notes) Lock(ctx context.Context, name string) (release func(), err error) {
	return n.repo.LockNote(ctx, name)
}

// Head returns the commit of HEAD in hex, zeros if it is unborn, or "" if it cannot be read.
func (s *Store) Head(ctx context.Context) string {
	head, err := s.repo.ReadHead(ctx)
	if err != nil {
		return ""
	}
	return head.Commit.String()
}

// maxCommits limits the result of CommitsSince.
const maxCommits = 100

// CommitsSince returns the commits that were made in this worktree since HEAD was at a commit, by the
// reflog of HEAD, newest first. Commits that came by a pull, a merge without a commit or a switch are
// left out, and with onBranch those before the last switch. If the reflog lacks the commit, the result is
// empty.
func (s *Store) CommitsSince(ctx context.Context, head string, onBranch bool) (made []string) {
	if head == "" || s.Head(ctx) == head {
		return nil
	}
	entries, _ := s.repo.EveryEntry(ctx, "HEAD")
	for _, e := range entries {
		action, _, _ := strings.Cut(e.Message, ":")
		verb, how, _ := strings.Cut(action, " ")
		switch {
		case slices.Contains([]string{"commit", "cherry-pick", "revert", "am"}, verb),
			verb == "rebase" && how != "(start)" && how != "(finish)" && how != "(abort)",
			(verb == "merge" || verb == "pull") && strings.Contains(e.Message, "Merge made"):
			made = append(made, e.New.String())
		}
		if e.Old.String() == head || onBranch && verb == "checkout" {
			return made[:min(len(made), maxCommits)]
		}
	}
	return nil
}
