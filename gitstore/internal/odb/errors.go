package odb

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// A CorruptObjectError reports a damaged file in the object database.
type CorruptObjectError struct {
	Path string
	Msg  string
}

func (e *CorruptObjectError) Error() string { return e.Path + ": corrupt: " + e.Msg }

// An errFormat is an error of a parser. withPath converts it to a CorruptObjectError.
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

// guard runs f and converts a fault in mapped memory to an error. Such faults occur if
// another program truncates a mapped file, or if its disk fails.
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
