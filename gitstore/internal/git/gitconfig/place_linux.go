package gitconfig

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// trusted reports whether all paths belong to this user and are on one file system.
// Otherwise git checks safe.directory, or stops its search at the mount point.
func (p Place) trusted() bool {
	device, owner, ok := stat(p.Root)
	if !ok || owner != os.Geteuid() || !onDevice(device, p.Passed) {
		return false
	}
	for _, path := range []string{filepath.Join(p.Root, ".git"), p.GitDir, p.CommonDir} {
		if _, owner, ok := stat(path); !ok || owner != os.Geteuid() {
			return false
		}
	}
	return true
}

// onDevice reports whether all folders are on the device.
func onDevice(device uint64, folders []string) bool {
	return !slices.ContainsFunc(folders, func(folder string) bool {
		d, _, ok := stat(folder)
		return !ok || d != device
	})
}

// stat returns device and owner of a path without following symlinks.
func stat(path string) (device uint64, owner int, ok bool) {
	var s syscall.Stat_t
	if syscall.Lstat(path, &s) != nil {
		return 0, 0, false
	}
	return uint64(s.Dev), int(s.Uid), true
}

// distributed reports whether git is a binary that was built for the prefix /usr.
func distributed(git string) bool {
	path, err := filepath.EvalSymlinks(git)
	if err != nil {
		return false
	}
	switch path {
	case "/usr/bin/git", "/bin/git", "/usr/lib/git-core/git", "/usr/libexec/git-core/git":
		return isProgram(path)
	}
	return false
}

// isProgram reports whether a file is an ELF binary, not a wrapper script.
func isProgram(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = f.Read(magic[:])
	return err == nil && string(magic[:]) == "\x7fELF"
}
