//go:build unix

package objects

import (
	"time"

	"golang.org/x/sys/unix"
)

// A change is when a file was changed last, its names included, and which file
// it is.
type change struct {
	dev, ino uint64
	at       time.Time
}

func changeOf(path string) (change, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return change{}, err
	}
	return change{dev: uint64(st.Dev), ino: uint64(st.Ino), at: time.Unix(st.Ctim.Unix())}, nil //nolint:unconvert // the types differ among systems
}
