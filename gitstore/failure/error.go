package failure

import (
	"errors"
	"fmt"
)

// A Coded error has an exit code and a hint. The hint is "" if there is no next step.
type Coded interface {
	error
	Exit() (code int, hint string)
}

// Of returns the outermost Coded error of a chain of wrapped errors.
func Of(err error) (Coded, bool) { return errors.AsType[Coded](err) }

// New returns a Coded error for comparison with errors.Is.
func New(code int, hint, text string) error { return &sentinel{code, hint, text} }

type sentinel struct {
	code       int
	hint, text string
}

func (s *sentinel) Error() string                 { return s.text }
func (s *sentinel) Exit() (code int, hint string) { return s.code, s.hint }

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

func (f *Error) Exit() (code int, hint string) { return f.Code, f.Hint }

// WithHint returns the failure with another hint.
func (f *Error) WithHint(hint string) *Error {
	with := *f
	with.Hint = hint
	return &with
}

// Errorf returns a failure with the kind of its exit code.
func Errorf(code int, hint, format string, args ...any) error {
	return &Error{Code: code, Kind: Kind(code), Hint: hint, err: fmt.Errorf(format, args...)}
}

// NoneFound returns the failure of an issue without checkpoints, with further lines about it.
func NoneFound(err error, hint string, details []string) error {
	return &Error{Code: None, Kind: Kind(None), Hint: hint, Details: details, err: err}
}

// CodeErrorf returns a failure with the exit code of another program.
func CodeErrorf(code int, format string, args ...any) error {
	return &Error{Code: code, Kind: Kind(Failure), err: fmt.Errorf(format, args...)}
}

// Usagef returns an error of the command line.
func Usagef(format string, args ...any) error { return Errorf(Usage, "", format, args...) }

// A DoneError reports an error after refs had moved. The change is made, but may be lost
// through power loss or gc.
type DoneError struct {
	Err     error
	isWhole bool // Error returns the text of Err alone
}

func (e *DoneError) Error() string {
	if e.isWhole {
		return e.Err.Error()
	}
	return fmt.Sprintf("the change is made, but: %v", e.Err)
}

func (e *DoneError) Unwrap() error { return e.Err }

// DoneErrorf returns a failure of a command that has made its change, with a text of its own. The hint
// asks for no second run of the command.
func DoneErrorf(format string, args ...any) error {
	return Errorf(Failure, "", "%w", &DoneError{Err: fmt.Errorf(format, args...), isWhole: true})
}

// A Silent error ends the program with a code and without a message, because the output
// is complete.
type Silent struct{ Code int }

func (s Silent) Error() string { return fmt.Sprintf("exit %d", s.Code) }

// ExitCode returns the exit code.
func (s Silent) ExitCode() int { return s.Code }
