package exit

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"git-checkpoint/commands/internal/atomicfile"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// Classify returns the failure of an error: code, kind and hint.
func Classify(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f.hinted()
	}
	code, hint := codeOf(err)
	var none *gitstore.NoneError
	if errors.As(err, &none) {
		err = none // the contract fixes this text without caller context
	}
	return &Error{Code: code, Kind: Kinds[code], Hint: hint, err: err}
}

// codeOf maps errors to exit codes and hints. The outermost error with a code of its own
// decides.
func codeOf(err error) (code int, hint string) {
	if errors.Is(err, context.Canceled) {
		return Interrupted, ""
	}
	if coded, ok := failure.Of(err); ok {
		return coded.ExitCode(), coded.ExitHint()
	}
	switch {
	case errors.Is(err, gitstore.ErrNoRemote):
		return Remote, "git remote add origin <url>"
	case errors.Is(err, gitstore.ErrNotRepository):
		return Repository, ""
	case errors.Is(err, gitstore.ErrMoved), errors.Is(err, atomicfile.ErrChanged):
		return Refused, "run the command again"
	case diskFull(err):
		return Failure, repairing(err, freeSpace)
	case IsReadOnly(err):
		return Failure, repairing(err, "make the repository writable")
	}
	return Failure, ""
}

// IsReadOnly reports whether a file could not be written for lack of permission, or because
// its file system is read-only.
func IsReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
