package restore

import (
	"io/fs"
	"syscall"

	"git-checkpoint/gitstore/internal/index"
)

// statOf returns a file's stat data as stored in the index, except the device. It returns
// false if the system lacks this data.
func statOf(info fs.FileInfo) (index.Stat, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return index.Stat{}, false
	}
	return index.Stat{
		CTime: index.Time{Sec: uint32(st.Ctim.Sec), Nsec: uint32(st.Ctim.Nsec)},
		MTime: index.Time{Sec: uint32(st.Mtim.Sec), Nsec: uint32(st.Mtim.Nsec)},
		Ino:   uint32(st.Ino), UID: st.Uid, GID: st.Gid, Size: uint32(st.Size),
	}, true
}
