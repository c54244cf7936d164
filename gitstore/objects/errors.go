package objects

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// CorruptObjectError says that a file of the object store is damaged.
type CorruptObjectError struct {
	Path string
	Msg  string
}

func (e *CorruptObjectError) Error() string { return e.Path + ": corrupt: " + e.Msg }

// errFormat is what the parsers return; withPath turns it into a CorruptObjectError.
type errFormat string

func (e errFormat) Error() string { return string(e) }

func formatError(format string, args ...any) error {
	return errFormat(fmt.Sprintf(format, args...))
}

func withPath(path string, err error) error {
	var f errFormat
	if errors.As(err, &f) {
		return &CorruptObjectError{Path: path, Msg: string(f)}
	}
	return err
}

// guard runs f and turns a fault in mapped memory into an error: another
// program may truncate a file while it is mapped, or its disk may fail.
func guard(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			fault, ok := r.(interface{ Addr() uintptr })
			if !ok {
				panic(r)
			}
			err = formatError("file changed while it was read (fault at %#x)", fault.Addr())
		}
	}()
	return f()
}
