package gitconfig

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// trusted reports whether everything belongs to this user and lies in one file
// system: else git asks safe.directory, or looks no further up.
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

// onDevice reports whether folders lie in one file system.
func onDevice(device uint64, folders []string) bool {
	return !slices.ContainsFunc(folders, func(folder string) bool {
		d, _, ok := stat(folder)
		return !ok || d != device
	})
}

// stat is the device and the owner of a path, symlinks not followed.
func stat(path string) (device uint64, owner int, ok bool) {
	var s syscall.Stat_t
	if syscall.Lstat(path, &s) != nil {
		return 0, 0, false
	}
	return uint64(s.Dev), int(s.Uid), true
}

// distributed reports whether git is a program that was built for /usr.
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

// isProgram reports whether a file is no script around another one.
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
