package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/trees"
)

// Sentinel errors of this package.
var (
	ErrNotRepository = repository.ErrNone
	ErrMoved         = failure.New(failure.Refused, "run the command again", "the ref kept moving")
	ErrNothingToUndo = errors.New("nothing to undo")
	ErrNothingToRedo = errors.New("nothing to redo")
	ErrObjectsGone   = errors.New("a git gc or git prune deleted new objects, and nothing was changed; run the command again")
	ErrUnchanged     = errors.New("unchanged since the checkpoint before")

	// ErrUnfinished is an error during the undo of a restore. Some files may have their former contents,
	// others may not. Another undo completes it.
	ErrUnfinished = errors.New("the restore is only partly reverted")
)

// Pushed returns an error that occurred after a sync had moved an issue's remote refs. The local
// refs have their old values; the next sync moves them. It has the exit code and the hint of the
// cause, if the cause has its own.
func Pushed(i checkpoint.Issue, remote string, err error) error {
	code, hint := failure.Failure, "git checkpoint sync "+failure.IssueArg(string(i))
	if cause, ok := failure.Of(err); ok {
		code, hint = cause.Exit()
	}
	return failure.Errorf(code, hint, "sync issue %s: pushed to %s, but the refs here are as before: %w", i, remote, err)
}

// IsDone reports whether refs have moved in spite of an error.
func IsDone(err error) bool { return errors.As(err, new(*failure.DoneError)) }

// CheckWorktree fails in a bare repository, inside of a git directory, and in a copy of a linked
// worktree, because the index belongs to the files of the other worktree. It also fails if the
// git worktree add of this worktree was killed: missing files would count as deleted.
func (s *Repo) CheckWorktree() error {
	switch {
	case s.Info.Root != "":
		var lock []byte
		if s.Info.Dir != s.Info.CommonDir {
			lock, _ = os.ReadFile(filepath.Join(s.Info.Dir, "locked"))
		}
		if strings.TrimSpace(string(lock)) == "initializing" && !fsutil.Exists(filepath.Join(s.Info.Dir, "index")) {
			return &RefusedError{
				Reason: "the git worktree add of this worktree was interrupted, and files are missing",
				Hint:   "git checkpoint resume --worktree .\ngit reset -q && git checkout-index -a",
			}
		}
		owner := s.Info.CopiedFrom()
		if owner == "" {
			return nil
		}
		return &RefusedError{
			Reason: fmt.Sprintf("this worktree is a copy of %s, and both have the same index", failure.Quote(owner)),
			Hint:   "git worktree repair",
		}
	case s.Info.Bare:
		return &repository.UnsupportedError{Feature: "a bare repository has no index"}
	}
	hint := "git worktree list"
	if root, ok := strings.CutSuffix(s.Info.Dir, string(filepath.Separator)+".git"); ok {
		hint = "cd " + failure.Quote(root)
	}
	return failure.New(failure.Repository, hint, fmt.Sprintf("the working directory is in the git directory %s, not in a worktree", s.Info.Dir))
}

// A NoneError reports that an issue has no checkpoint.
type NoneError struct{ Issue checkpoint.Issue }

func (e *NoneError) Error() string {
	if _, number := e.Issue.Number(); !number {
		return "No checkpoint found for issue " + string(e.Issue)
	}
	return "No checkpoint found for issue #" + string(e.Issue)
}

// FixedText marks the text as a contract with scripts.
func (e *NoneError) FixedText() {}

func (e *NoneError) Exit() (code int, hint string) {
	return failure.None, "git checkpoint save " + failure.IssueArg(string(e.Issue))
}

// A NotFoundError reports that a name matches no checkpoint.
type NotFoundError struct {
	Issue checkpoint.Issue
	Name  string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("issue %s: no checkpoint named %q", e.Issue, e.Name)
}

func (e *NotFoundError) Exit() (code int, hint string) {
	return failure.None, "git checkpoint list " + failure.IssueArg(string(e.Issue))
}

// An AmbiguousError reports that a name matches several checkpoints.
type AmbiguousError struct {
	Name       string
	Candidates []checkpoint.ID
	Commits    []string // commits of the contents of one id, if there are several
}

func (e *AmbiguousError) Error() string {
	if len(e.Commits) > 0 {
		return fmt.Sprintf("%q has %d contents, and none was in this clone before the others; name one by its commit: %s", e.Name, len(e.Commits), strings.Join(e.Commits, ", "))
	}
	return fmt.Sprintf("%q is ambiguous: %s", e.Name, JoinIDs(e.Candidates))
}

func (e *AmbiguousError) Exit() (code int, hint string) { return failure.Usage, "" }

func JoinIDs(ids []checkpoint.ID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return strings.Join(texts, ", ")
}

// A CorruptError reports that a stored object violates the stored form.
type CorruptError = trees.CorruptError

func Corrupt(object, format string, args ...any) error {
	return trees.Corrupt(object, format, args...)
}

// A RefusedError reports that an operation was refused because it would lose data or
// could not succeed. Hint is a command for the next step.
type RefusedError struct {
	Reason string
	Hint   string
	Flag   string // flag of the command that does it in spite of the reason, or ""
}

func (e *RefusedError) Error() string { return e.Reason }

func (e *RefusedError) Exit() (code int, hint string) { return failure.Refused, e.Hint }

// A PromisedError reports an object that a partial clone lacks and that git could not
// fetch. Either no remote answers, or no remote has the object.
type PromisedError = odb.PromisedError

// Lacked wraps an error about an issue's object, a ref or the id of a checkpoint. If it is a
// PromisedError, a sync may fetch the current chain of the remote.
func Lacked(i checkpoint.Issue, object string, err error) error {
	if p, ok := errors.AsType[*PromisedError](err); ok {
		return failure.Errorf(failure.Remote, "git checkpoint sync "+failure.IssueArg(string(i)), "%s: %w", object, p)
	}
	return fmt.Errorf("%s: %w", object, err)
}

// A TakenError reports that an imported id belongs to another checkpoint, existing or
// dropped.
type TakenError struct {
	Issue   checkpoint.Issue
	ID      checkpoint.ID
	Dropped bool
}

func (e *TakenError) Error() string {
	if e.Dropped {
		return fmt.Sprintf("%s was dropped", e.ID)
	}
	return fmt.Sprintf("%s already exists", e.ID)
}

func (e *TakenError) Exit() (code int, hint string) {
	return failure.Refused, "git checkpoint show " + failure.IssueArg(string(e.Issue)) + " " + failure.Quote(string(e.ID))
}
