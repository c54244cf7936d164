package git

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"git-checkpoint/gitstore/failure"
)

// A Version is a git version, such as {2, 54}.
type Version [2]int

// ParseVersion parses the output of `git version`.
func ParseVersion(line string) (v Version, err error) {
	if _, err := fmt.Sscanf(line, "git version %d.%d", &v[0], &v[1]); err != nil {
		return Version{}, fmt.Errorf("git version: %q", line)
	}
	return v, nil
}

// AtLeast reports whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v[0] > major || v[0] == major && v[1] >= minor
}

// Oldest is the oldest git that is supported.
var Oldest = Version{2, 34}

// UsageCode is git's exit status for an unknown option.
const UsageCode = 129

// tooOld returns an error if git's version explains a failure: an unknown option, or
// an unknown command of update-ref, which has no distinct exit status.
func (r *Run) tooOld(failed *CommandError) error {
	if failed.Code != UsageCode && verb(r.args) != "update-ref" {
		return nil
	}
	version, err := InstalledVersion()
	if err != nil {
		return nil
	}
	return version.TooOld()
}

// TooOld returns an error if v is older than Oldest.
func (v Version) TooOld() error {
	if v.AtLeast(Oldest[0], Oldest[1]) {
		return nil
	}
	return failure.New(failure.Repository, "upgrade git", fmt.Sprintf("git %d.%d is too old: git %d.%d or newer is needed", v[0], v[1], Oldest[0], Oldest[1]))
}

// InstalledVersion returns git's version and caches it.
var InstalledVersion = sync.OnceValues(func() (v Version, err error) {
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
