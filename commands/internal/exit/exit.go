// Package exit has the exit codes of the program and the errors that carry them.
package exit

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// Exit codes are part of the contract: codes are added, but never changed.
const (
	OK          = failure.OK
	Failure     = failure.Failure
	Usage       = failure.Usage
	None        = failure.None
	StartFresh  = failure.StartFresh
	NeedsAnswer = failure.NeedsAnswer
	Invalid     = failure.Invalid
	Version     = failure.Version
	Refused     = failure.Refused
	Stale       = failure.Stale
	Repository  = failure.Repository
	Remote      = failure.Remote
	Partial     = failure.Partial
	Secrets     = failure.Secrets
	Limit       = failure.Limit
	Interrupted = failure.Interrupted
)

// An Error is an error with its exit code, its kind and, if there is a next step, the
// command to run.
type Error struct {
	Code    int
	Kind    string
	Hint    string
	Details []string // further lines about the error
	err     error
}

func (f *Error) Error() string { return f.err.Error() }

func (f *Error) Unwrap() error { return f.err }

// ExitCode returns the error's exit code.
func (f *Error) ExitCode() int { return f.Code }

// ExitHint returns the next command, or "".
func (f *Error) ExitHint() string { return f.Hint }

// WithHint returns the failure with another hint.
func (f *Error) WithHint(hint string) *Error {
	with := *f
	with.Hint = hint
	return &with
}

// Errorf returns a failure with the kind of its exit code.
func Errorf(code int, hint, format string, args ...any) error {
	return &Error{Code: code, Kind: Kinds[code], Hint: hint, err: fmt.Errorf(format, args...)}
}

// NoneFound returns the failure of an issue without checkpoints, with further lines about it.
func NoneFound(err error, hint string, details []string) error {
	return &Error{Code: None, Kind: Kinds[None], Hint: hint, Details: details, err: err}
}

// CodeErrorf returns a failure with the exit code of another program.
func CodeErrorf(code int, format string, args ...any) error {
	return &Error{Code: code, Kind: Kinds[Failure], err: fmt.Errorf(format, args...)}
}

// DoneErrorf returns a failure of a command that has made its change. The hint asks for no
// second run of the command.
func DoneErrorf(format string, args ...any) error {
	return Errorf(Failure, "", "%w", &doneError{fmt.Errorf(format, args...)})
}

// A doneError is a failure after the change was made.
type doneError struct{ err error }

func (d *doneError) Error() string { return d.err.Error() }

func (d *doneError) Unwrap() error { return d.err }

// Usagef returns an error of the command line.
func Usagef(format string, args ...any) error { return Errorf(Usage, "", format, args...) }

// A Silent error ends the program with a code and without a message, because the output
// is complete.
type Silent struct{ Code int }

func (s Silent) Error() string { return fmt.Sprintf("exit %d", s.Code) }

// ExitCode returns the exit code.
func (s Silent) ExitCode() int { return s.Code }

// Kinds maps exit codes to their names in JSON.
var Kinds = map[int]string{
	Failure: "failure", Usage: "usage", None: "none", StartFresh: "start_fresh",
	NeedsAnswer: "needs_answer", Invalid: "invalid", Version: "version", Refused: "refused",
	Stale: "stale", Repository: "repository", Remote: "remote", Partial: "partial", Secrets: "secrets", Limit: "limit", Interrupted: "interrupted",
}

// hinted returns the failure with a hint about a full disk, if it has no hint of its own.
// Missing write permission gets no hint here, because the file may be outside of the
// repository.
func (f *Error) hinted() *Error {
	if f.Hint != "" || f.Code != Failure || !diskFull(f) {
		return f
	}
	return f.WithHint(repairing(f, freeSpace))
}

// repairing returns a hint with an action that makes writes possible. Unless the command has
// made its change, the hint asks for a second run of the command.
func repairing(err error, action string) string {
	if errors.As(err, new(*gitstore.DoneError)) || errors.As(err, new(*doneError)) {
		return action
	}
	return action + ", then run the command again"
}

const freeSpace = "free some space"

// diskFull reports whether a write failed for lack of space, in this process or in git.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(err.Error(), "No space left on device")
}
