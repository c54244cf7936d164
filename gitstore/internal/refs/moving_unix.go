//go:build unix

package refs

import (
	"fmt"
	"os"
	"syscall"
)

// Here reports whether this package updates refs on this system.
const Here = true

// sameGroup fails if files created in dir and in other get different groups.
func sameGroup(dir, other string) error {
	one, err := os.Stat(dir)
	if err != nil {
		return err
	}
	two, err := os.Stat(other)
	if err != nil {
		return err
	}
	if one.Mode()&os.ModeSetgid != two.Mode()&os.ModeSetgid || one.Sys().(*syscall.Stat_t).Gid != two.Sys().(*syscall.Stat_t).Gid {
		return fmt.Errorf("%s is of another group than %s", other, dir)
	}
	return nil
}
