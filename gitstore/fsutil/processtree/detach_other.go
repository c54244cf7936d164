//go:build !unix

package processtree

import (
	"errors"
	"os/exec"
)

// Detach always fails with errors.ErrUnsupported. Like git, Windows maintains in the
// foreground.
func Detach(*exec.Cmd) error { return errors.ErrUnsupported }
