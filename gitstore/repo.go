package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/refs"
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

// HeadMark returns the newest entry of HEAD's reflog as a mark for CommitsSince, or "" if the reflog
// cannot be read.
func (s *Store) HeadMark(ctx context.Context) string {
	entries, err := s.repo.EveryEntry(ctx, "HEAD")
	if err != nil {
		entries, err = s.repo.Reflog(ctx, "HEAD") // HEAD can be unborn
	}
	switch {
	case err != nil:
		return ""
	case len(entries) == 0:
		return noEntry
	}
	return markOf(entries[0])
}

const noEntry = "-" // mark of an empty reflog

func markOf(e refs.Logged) string { return fmt.Sprintf("%s %d %.99q", e.New, e.At.Unix(), e.Message) }

// maxCommits limits the result of CommitsSince.
const maxCommits = 100

// makesCommit matches reflog messages of moves to a commit that was made in this worktree. Commits that
// came by a fetch, a merge without a commit, a reset or a switch have other messages.
var makesCommit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(commit|cherry-pick|revert|am)\b|^rebase: |^(rebase|pull)\b.*\((pick|reword|edit|squash|fixup|amend|merge|continue)\): |^(merge|pull)\b.*: Merge made`)
})

// CommitsSince returns the commits that were made in this worktree since a mark, newest first. With inHead,
// commits that HEAD lacks are left out; the branch on which a commit was made does not matter. If the reflog
// lacks the mark, the result is empty.
func (s *Store) CommitsSince(ctx context.Context, mark string, inHead bool) (made []string) {
	entries, err := s.repo.EveryEntry(ctx, "HEAD")
	since := len(entries)
	if mark != noEntry {
		since = slices.IndexFunc(entries, func(e refs.Logged) bool { return markOf(e) == mark })
	}
	if err != nil || mark == "" || since < 0 {
		return nil
	}
	for _, e := range entries[:since] {
		if makesCommit().MatchString(e.Message) {
			made = append(made, e.New.String())
		}
	}
	if made = made[:min(len(made), maxCommits)]; len(made) == 0 || !inHead {
		return made
	}
	left, err := s.repo.Git.Output(ctx, slices.Concat([]string{"rev-list", "--ignore-missing"}, made, []string{"--not", "HEAD", "--"})...)
	return slices.DeleteFunc(made, func(hex string) bool { return err != nil || strings.Contains(string(left), hex) })
}

// TakenAway returns the paths that a stash of the same HEAD holds. If HEAD was reset after the save of the
// checkpoint, it returns all paths. Other commands leave no trace, and a user can remove files on purpose.
func (s *Store) TakenAway(ctx context.Context, c *Checkpoint, head string, paths []string) []string {
	moves, _ := s.repo.EveryEntry(ctx, "HEAD")
	if slices.ContainsFunc(moves, func(e refs.Logged) bool {
		return strings.HasPrefix(e.Message, "reset: ") && !e.At.Before(c.Saved.Truncate(time.Second))
	}) {
		return paths
	}
	var held []string
	stashes, _ := s.repo.EveryEntry(ctx, "refs/stash")
	for _, e := range stashes {
		if stash, err := s.repo.ReadCommit(e.New); err == nil && len(stash.Parents) > 1 && strings.HasSuffix(head, stash.Parents[0].String()) {
			out, _ := s.repo.RootGit().Output(ctx, "stash", "show", "--include-untracked", "--name-only", "--no-renames", "-z", e.New.String())
			held = append(held, git.Fields(out)...)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !slices.Contains(held, path) })
}
