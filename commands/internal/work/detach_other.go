//go:build !unix

package work

import (
	"errors"
	"os/exec"
)

// detach always fails with errors.ErrUnsupported. Like git, Windows maintains in the
// foreground.
func detach(*exec.Cmd) error { return errors.ErrUnsupported }
