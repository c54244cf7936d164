package trees

import "fmt"

// A CorruptError says that something stored breaks the form it should have.
type CorruptError struct {
	Object string // what: a ref, a commit, a path in one
	Err    error
	Hint   string // a command that looks closer, "" where verify does
}

func (e *CorruptError) Error() string { return fmt.Sprintf("%s: %v", e.Object, e.Err) }
func (e *CorruptError) Unwrap() error { return e.Err }

// Corrupt makes a CorruptError.
func Corrupt(object, format string, args ...any) error {
	return &CorruptError{Object: object, Err: fmt.Errorf(format, args...)}
}
