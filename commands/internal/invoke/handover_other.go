//go:build !unix

package invoke

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"git-checkpoint/gitstore/failure"
)

// replaceBy runs a program and returns its exit code as an failure.Silent. If input is not
// nil, the program reads these bytes as its standard input. An interrupt at the console
// reaches the program too.
func replaceBy(path string, argv []string, input []byte) error {
	cmd := exec.Command(path, argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if input != nil {
		cmd.Stdin = bytes.NewReader(input)
	}
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return fmt.Errorf("run %s: %w", path, err)
	}
	return failure.Silent{Code: cmd.ProcessState.ExitCode()}
}
