//go:build unix

package invoke

import (
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

// setStdin makes a deleted temporary file standard input. A pipe could be too small.
func setStdin(input []byte) error {
	f, err := os.CreateTemp("", "git-checkpoint-input-*")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	if _, err := f.Write(input); err != nil {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	return unix.Dup2(int(f.Fd()), 0)
}
