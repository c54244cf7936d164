package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
)

// Sentinel errors of this package.
var (
	ErrNotRepository = repo.ErrNotRepository
	ErrMoved         = repo.ErrMoved
	ErrNothingToUndo = repo.ErrNothingToUndo
	ErrNothingToRedo = repo.ErrNothingToRedo
	ErrReadOnly      = repo.ErrReadOnly
	ErrUnchanged     = repo.ErrUnchanged
)

// A DoneError reports an error after refs had moved. The change is made, but may be lost
// through power loss or gc.
type DoneError = repo.DoneError

// A PushedError reports an error after a sync had moved an issue's remote refs. The local
// refs have their old values; the next sync moves them.
type PushedError = repo.PushedError

// An UnfinishedError reports an error during the undo of a restore. Some files may have
// their former contents, others may not. Another undo completes it.
type UnfinishedError = repo.UnfinishedError

// An UnsupportedError names an unsupported repository feature.
type UnsupportedError = repo.UnsupportedError

// ObjectFormat is git's name of the object format of the repositories that this package
// opens. It is sha256 in programs that are built with the tag sha256.
const ObjectFormat = objectformat.Name

// An ObjectFormatError reports a repository whose object format is not that of this
// program.
type ObjectFormatError = repo.ObjectFormatError

// A NoneError reports that an issue has no checkpoint.
type NoneError = repo.NoneError

// A NotFoundError reports that a name matches no checkpoint.
type NotFoundError = repo.NotFoundError

// An AmbiguousError reports that a name matches several checkpoints.
type AmbiguousError = repo.AmbiguousError

// A CorruptError reports that a stored object violates the stored form.
type CorruptError = repo.CorruptError

// A BrokenRefError reports that a ref does not point to an existing commit. It wraps a
// CorruptError.
type BrokenRefError = repo.BrokenRefError

// A RefusedError reports that an operation was refused because it would lose data or
// could not succeed. Hint is a command for the next step.
type RefusedError = repo.RefusedError

// An InvalidRecordError reports that a new record breaks the rules of records: a resume
// would refuse it.
type InvalidRecordError = repo.InvalidRecordError

// A LimitError reports a size above its limit.
type LimitError = repo.LimitError

// A TakenError reports that an imported id belongs to another checkpoint, existing or
// dropped.
type TakenError = repo.TakenError

// Branch returns the branch of HEAD, or "" if HEAD is detached.
func (s *Store) Branch(ctx context.Context) (string, error) { return s.repo.Branch(ctx) }

// ClearLock removes a lock file that a killed git left after since, unless a running git
// may hold it.
func (s *Store) ClearLock(path string, since time.Time) { s.repo.ClearLock(path, since) }

// Close releases the memory maps of Open and later reads.
func (s *Store) Close() error { return s.repo.Close() }

// SetProgress sets the function that receives the progress of long operations.
func (s *Store) SetProgress(f func(done, total int)) { s.repo.SetProgress(f) }

// Root returns the worktree's root, or "" in bare repositories.
func (s *Store) Root() string { return s.repo.Root() }

// Environ returns variables with which a process in the directory Root opens this
// repository. They replace relative paths in the environment of this process.
func (s *Store) Environ() []string { return s.repo.Info.Environ() }

// CommonDir returns the repository folder that all worktrees share.
func (s *Store) CommonDir() string { return s.repo.CommonDir() }

// GitDir returns the git directory of this worktree.
func (s *Store) GitDir() string { return s.repo.GitDir() }

// Prefix returns the working directory relative to Root, either "" or with trailing
// slash.
func (s *Store) Prefix() string { return s.repo.Prefix() }

// CacheDir returns the folder for cached data, shared by all worktrees. It may not exist.
func (s *Store) CacheDir() string { return s.repo.CacheDir() }

// Share sets the modes of files and directories as core.sharedRepository requires. It
// ignores errors, because files may belong to other users.
func (s *Store) Share(paths ...string) { s.repo.Objects.Share(paths...) }

// A PromisedError reports an object that a partial clone lacks and that git could not
// fetch. Either no remote answers, or no remote has the object.
type PromisedError = repo.PromisedError

// LiveRef returns the ref of an issue's chain.
func LiveRef(i checkpoint.Issue) string { return repo.LiveRef(i) }

// ArchiveRef returns the ref of an issue's archive.
func ArchiveRef(i checkpoint.Issue) string { return repo.ArchiveRef(i) }

// Session returns the session id of this worktree. Without a stored id, it stores the
// result of fresh.
func (s *Store) Session(fresh func() string) string { return s.repo.Session(fresh) }

// Tips returns the newest commit of each issue's chain, in hex. It reads loose refs
// without git, because git silently skips refs in a folder that it cannot open.
func (s *Store) Tips(ctx context.Context) (map[checkpoint.Issue]string, error) {
	return s.repo.Tips(ctx)
}

// Git runs the git binary.
type Git = git.Git

// A GitVersion is the version of a git binary, as {2, 54}.
type GitVersion = git.Version

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
func (n Notes) Write(name string, data []byte) error { return n.repo.WriteNote(name, data) }

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
// left out. If the reflog lacks the commit, the result is empty.
func (s *Store) CommitsSince(ctx context.Context, head string) (made []string) {
	if s.Head(ctx) == head {
		return nil
	}
	read := s.repo.ReflogOfGit
	if s.repo.Info.RefFormat == "files" {
		read = func(_ context.Context, ref string) ([]refs.Logged, error) { return refs.ReadLog(s.repo.Info.Dir, ref) }
	}
	entries, _ := read(ctx, "HEAD")
	for _, e := range entries {
		action, _, _ := strings.Cut(e.Message, ":")
		verb, how, _ := strings.Cut(action, " ")
		switch {
		case slices.Contains([]string{"commit", "cherry-pick", "revert", "am"}, verb),
			verb == "rebase" && how != "(start)" && how != "(finish)" && how != "(abort)",
			(verb == "merge" || verb == "pull") && strings.Contains(e.Message, "Merge made"):
			made = append(made, e.New.String())
		}
		if e.Old.String() == head {
			return made[:min(len(made), maxCommits)]
		}
	}
	return nil
}
