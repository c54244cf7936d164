//go:build unix

package odb

import (
	"time"

	"golang.org/x/sys/unix"
)

func changeOf(path string) (change, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return change{}, err
	}
	return change{dev: uint64(st.Dev), ino: uint64(st.Ino), at: time.Unix(st.Ctim.Unix())}, nil //nolint:unconvert // the types differ among systems
}
