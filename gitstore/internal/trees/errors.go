package trees

import "fmt"

// A CorruptError reports a stored object with an invalid format.
type CorruptError struct {
	Object string // a ref, a commit, or a path in a commit
	Err    error
	Hint   string // command for details, "" for the default, verify
}

func (e *CorruptError) Error() string { return fmt.Sprintf("%s: %v", e.Object, e.Err) }
func (e *CorruptError) Unwrap() error { return e.Err }

// Corrupt returns a CorruptError.
func Corrupt(object, format string, args ...any) error {
	return &CorruptError{Object: object, Err: fmt.Errorf(format, args...)}
}
