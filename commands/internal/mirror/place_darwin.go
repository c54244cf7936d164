package mirror

import (
	"io/fs"
	"syscall"
)

func placeOf(info fs.FileInfo) place {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return place{}
	}
	return place{Change: st.Ctimespec.Nano(), Inode: st.Ino}
}
