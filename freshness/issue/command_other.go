//go:build !unix

package issue

import "os/exec"

// killTree does nothing on systems without process groups, so only the program itself is
// killed.
func killTree(*exec.Cmd) {}
