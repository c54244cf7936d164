package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ParseShared parses core.sharedRepository and returns values for Config.Shared and
// Config.SharedExact.
func ParseShared(value string) (bits os.FileMode, exact bool, err error) {
	switch strings.ToLower(value) {
	case "", "umask", "false", "no", "off", "0":
		return 0, false, nil
	case "group", "true", "yes", "on", "1":
		return 0o660, false, nil
	case "all", "world", "everybody", "2":
		return 0o664, false, nil
	}
	n, err := strconv.ParseUint(value, 8, 32)
	if err != nil {
		return 0, false, fmt.Errorf("core.sharedRepository: unknown value %q", value)
	}
	if n&0o600 != 0o600 {
		return 0, false, fmt.Errorf("core.sharedRepository: %s keeps the owner out", value)
	}
	return os.FileMode(n & 0o666), true, nil
}

// fileMode returns the mode for a new file in a shared repository. It adds read
// permissions, and write permissions only if the owner may write.
func (c *Config) fileMode(mode os.FileMode) os.FileMode {
	bits := c.Shared & 0o777
	if mode&0o200 == 0 {
		bits &^= 0o222
	}
	if c.SharedExact {
		return mode&^0o777 | bits
	}
	return mode | bits
}

// dirMode returns the mode for a new directory. It adds search permission to each read
// permission, and setgid, so that new files inherit the group.
func (c *Config) dirMode(mode os.FileMode) os.FileMode {
	mode = c.fileMode(mode)
	mode |= mode & 0o444 >> 2
	if mode&0o060 != 0 {
		mode |= os.ModeSetgid
	}
	return mode
}

// Share sets the modes of files and directories in a shared repository. It ignores
// errors, because files may belong to other users. It does nothing if the repository is
// not shared.
func (s *Database) Share(paths ...string) {
	if s.cfg.Shared == 0 {
		return
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			continue
		}
		want := s.cfg.fileMode(info.Mode())
		if info.IsDir() {
			want = s.cfg.dirMode(info.Mode())
		}
		if want != info.Mode() {
			_ = os.Chmod(path, want&(os.ModePerm|os.ModeSetgid|os.ModeSetuid|os.ModeSticky))
		}
	}
}

// ownFolder is the name of this program's folder in a git directory.
const ownFolder = "git-checkpoint"

// MakeDirs creates a directory in ownFolder. In a shared repository it sets the modes of the
// directory and of its parents up to ownFolder.
func (s *Database) MakeDirs(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	s.Share(dir)
	for filepath.Base(dir) != ownFolder && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		s.Share(dir)
	}
	return nil
}

// makeDir creates a fan-out directory if it does not exist.
func (s *Database) makeDir(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		s.Share(dir)
	}
	return err
}
