package gitstore

import (
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/repository"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Errors that callers ask for.
var (
	ErrNotRepository = repository.ErrNone
	ErrBare          = errors.New("a bare repository has no staging area")
	ErrMoved         = errors.New("the ref kept moving")
	ErrNothingToUndo = errors.New("nothing to undo")
	ErrReadOnly      = errors.New("the chain is cut by a shallow boundary and can only be appended to")
	ErrUnchanged     = errors.New("unchanged since the checkpoint before")
)

// A DoneError reports an error that came after the refs had moved. The change is
// made, but it may not survive a loss of power or a gc.
type DoneError struct{ Err error }

func (e *DoneError) Error() string { return fmt.Sprintf("the change is made, but: %v", e.Err) }
func (e *DoneError) Unwrap() error { return e.Err }

// afterMove returns an error that came after refs had moved as a DoneError.
func afterMove(err error) error {
	if err == nil {
		return nil
	}
	return &DoneError{err}
}

// A PushedError reports an error that came after a sync had moved the remote's refs
// of an issue. The refs here have not followed; the next sync moves them.
type PushedError struct {
	Issue  checkpoint.Issue
	Remote string
	Err    error
}

func (e *PushedError) Error() string {
	return fmt.Sprintf("sync issue %s: pushed to %s, but the refs here are as before: %v", e.Issue, e.Remote, e.Err)
}
func (e *PushedError) Unwrap() error { return e.Err }

// An UnfinishedError reports an error that came while a restore was taken back:
// some files may be as they were before, others are not. Another undo completes it.
type UnfinishedError struct{ Err error }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("the restore is not completely taken back: %v", e.Err)
}
func (e *UnfinishedError) Unwrap() error { return e.Err }

// isDone reports whether refs have moved in spite of an error.
func isDone(err error) bool { return errors.As(err, new(*DoneError)) }

// An UnsupportedError names a feature of a repository that this program does
// not work with.
type UnsupportedError = repository.UnsupportedError

// A NoneError says that an issue has no checkpoint.
type NoneError struct{ Issue checkpoint.Issue }

func (e *NoneError) Error() string { return fmt.Sprintf("No checkpoint found for issue #%s", e.Issue) }

// A NotFoundError says that no checkpoint of an issue goes by a name.
type NotFoundError struct {
	Issue checkpoint.Issue
	Name  string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("issue %s: no checkpoint is called %q", e.Issue, e.Name)
}

// An AmbiguousError says that several checkpoints go by a name.
type AmbiguousError struct {
	Name       string
	Candidates []checkpoint.ID
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is ambiguous: %s", e.Name, joinIDs(e.Candidates))
}

func joinIDs(ids []checkpoint.ID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return strings.Join(texts, ", ")
}

// A CorruptError says that something stored breaks the stored form.
type CorruptError = trees.CorruptError

func corrupt(object, format string, args ...any) error {
	return trees.Corrupt(object, format, args...)
}

// A BrokenRefError says that a ref holds no commit that is there. It is a
// CorruptError, too.
type BrokenRefError struct {
	Ref  string
	File string        // where it is stored, "" when it is not a file of its own
	Last plumbing.Hash // where this clone last moved it, zero when that is not known
	Err  error
}

func (e *BrokenRefError) Error() string { return e.Err.Error() }
func (e *BrokenRefError) Unwrap() error { return e.Err }

// A RefusedError says that an operation would have lost something; Hint is
// the command that goes on from here.
type RefusedError struct {
	Reason string
	Paths  []string
	Hint   string
}

func (e *RefusedError) Error() string { return e.Reason }

// A LimitError says that something is larger than what is allowed.
type LimitError struct {
	What        string
	Size, Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %d bytes, more than the limit of %d", e.What, e.Size, e.Limit)
}

// A TakenError says that the id which a record brought along is that of
// another checkpoint: one that is there, or one that was dropped.
type TakenError struct {
	Issue   checkpoint.Issue
	ID      checkpoint.ID
	Dropped bool
}

func (e *TakenError) Error() string {
	if e.Dropped {
		return fmt.Sprintf("%s was dropped", e.ID)
	}
	return fmt.Sprintf("%s is there already", e.ID)
}
