package failure

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// Classify returns the failure of an error: code, kind and hint.
func Classify(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f.hinted()
	}
	code, hint := codeOf(err)
	if fixed, ok := errors.AsType[fixedText](err); ok {
		err = fixed
	}
	return &Error{Code: code, Kind: Kind(code), Hint: hint, err: err}
}

// A fixedText error has a text that is a contract with scripts: callers add no context.
type fixedText interface {
	error
	FixedText()
}

// codeOf maps errors to exit codes and hints. The outermost error with a code of its own
// decides.
func codeOf(err error) (code int, hint string) {
	if errors.Is(err, context.Canceled) {
		return Interrupted, ""
	}
	if coded, ok := Of(err); ok {
		return coded.Exit()
	}
	switch {
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
	if errors.As(err, new(*DoneError)) {
		return action
	}
	return action + ", then run the command again"
}

const freeSpace = "free some space"

// diskFull reports whether a write failed for lack of space, in this process or in git.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(err.Error(), "No space left on device")
}
