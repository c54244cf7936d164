package commands

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"git-checkpoint/gitstore"
)

// Exit codes are part of the contract: codes are added, but never changed.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNone        = 3
	exitStartFresh  = 4
	exitNeedsAnswer = 5
	exitInvalid     = 6
	exitVersion     = 7
	exitRefused     = 8
	exitStale       = 9
	exitRepository  = 10
	exitRemote      = 11
	exitPartial     = 12
	exitSecrets     = 13
	exitLimit       = 14
	exitInterrupted = 130
)

// A failure is an error with its exit code, its kind and, if there is a next step, the
// command to run.
type failure struct {
	code int
	kind string
	hint string
	err  error
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// ExitCode returns the error's exit code.
func (f *failure) ExitCode() int { return f.code }

// ExitHint returns the next command, or "".
func (f *failure) ExitHint() string { return f.hint }

// withHint returns the failure with another hint.
func (f *failure) withHint(hint string) *failure {
	with := *f
	with.hint = hint
	return &with
}

// fail returns a failure with the kind of its exit code.
func fail(code int, hint, format string, args ...any) error {
	return &failure{code: code, kind: kinds[code], hint: hint, err: fmt.Errorf(format, args...)}
}

// failAs returns a failure with the exit code of another program.
func failAs(code int, format string, args ...any) error {
	return &failure{code: code, kind: kinds[exitFailure], err: fmt.Errorf(format, args...)}
}

func usagef(format string, args ...any) error { return fail(exitUsage, "", format, args...) }

// A silent error ends the program with a code and without a message, because the output
// is complete.
type silent struct{ code int }

func (s silent) Error() string { return fmt.Sprintf("exit %d", s.code) }

// ExitCode returns the exit code.
func (s silent) ExitCode() int { return s.code }

// kinds maps exit codes to their names in JSON.
var kinds = map[int]string{
	exitFailure: "failure", exitUsage: "usage", exitNone: "none", exitStartFresh: "start_fresh",
	exitNeedsAnswer: "needs_answer", exitInvalid: "invalid", exitVersion: "version", exitRefused: "refused",
	exitStale: "stale", exitRepository: "repository", exitRemote: "remote", exitPartial: "partial", exitSecrets: "secrets", exitLimit: "limit", exitInterrupted: "interrupted",
}

// hinted returns the failure with a hint about a full disk, if it has no hint of its own.
// Missing write permission gets no hint here, because the file may be outside of the
// repository.
func (f *failure) hinted() *failure {
	if f.hint != "" || f.code != exitFailure || !diskFull(f) {
		return f
	}
	return f.withHint(freeing(f))
}

const (
	freeSpace = "free some space, then run the command again"
	freeOnly  = "free some space" // if the change is made already: repeating the command would make a second change
)

// freeing returns the hint for an error about a full disk.
func freeing(err error) string {
	if errors.As(err, new(*gitstore.DoneError)) {
		return freeOnly
	}
	return freeSpace
}

// diskFull reports whether a write failed for lack of space, in this process or in git.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(err.Error(), "No space left on device")
}
