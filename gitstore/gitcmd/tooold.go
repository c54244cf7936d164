package gitcmd

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// The oldest git that has all that is asked of it: "git config --show-scope",
// and transactions of "git update-ref".
const (
	minMajor = 2
	minMinor = 27
)

// A TooOldError means that a command failed because git does not know it yet.
type TooOldError struct {
	Major, Minor int
}

func (e *TooOldError) Error() string {
	return fmt.Sprintf("git %d.%d is too old: git %d.%d or newer is needed", e.Major, e.Minor, minMajor, minMinor)
}

// usageCode is the exit status of a git that does not know an option.
const usageCode = 129

// tooOld looks whether git's age explains a failure: an unknown option, or an
// unknown command of update-ref, whose exit status is that of other failures.
func (r *Run) tooOld(failed *CommandError) error {
	if failed.Code != usageCode && verb(r.args) != "update-ref" {
		return nil
	}
	version, err := askVersion()
	if err != nil || version.AtLeast(minMajor, minMinor) {
		return nil
	}
	return &TooOldError{version[0], version[1]}
}

// askVersion asks git for its version, once.
var askVersion = sync.OnceValues(func() (v Version, err error) {
	path, err := lookGit()
	if err != nil {
		return v, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return v, err
	}
	return ParseVersion(string(out))
})
