//go:build unix

package invoke

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// replaceBy replaces this process by a program. If input is not nil, the program reads
// these bytes as its standard input.
func replaceBy(path string, argv []string, input []byte) error {
	if input != nil {
		if err := setStdin(input); err != nil {
			return fmt.Errorf("run %s: %w", path, err)
		}
	}
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, argv, os.Environ()))
}

// pipeBytes is the size of an input that every pipe can hold.
const pipeBytes = 4096

// setStdin makes a pipe standard input, or for a long input a temporary file whose name is deleted.
// A pipe also works if there is no directory for temporary files.
func setStdin(input []byte) error {
	if len(input) <= pipeBytes {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = w.Write(input)
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
		return unix.Dup2(int(r.Fd()), 0)
	}
	f, err := os.CreateTemp("", "git-checkpoint-input-*")
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(input)
	if err := errors.Join(err, os.Remove(f.Name())); err != nil {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	return unix.Dup2(int(f.Fd()), 0)
}
