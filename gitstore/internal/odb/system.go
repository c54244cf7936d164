package odb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/internal/git"
)

// IsOfSystem reports whether an error comes from the process or the system, and not from the data:
// limits, a file that may not be read, a git that ended for a reason other than a damaged object. An
// object that a partial clone could not fetch is no such error.
func IsOfSystem(err error) bool {
	if errors.As(err, new(*PromisedError)) {
		return false
	}
	for _, of := range []error{errNoAnswer, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, fs.ErrPermission} {
		if errors.Is(err, of) {
			return true
		}
	}
	failed, ok := errors.AsType[*git.CommandError](err)
	return ok && !damage.MatchString(failed.Stderr)
}

var errNoAnswer = errors.New("git cat-file ended without an answer")

// damage matches what git prints about a damaged object: "packed object <id> (stored in <file>) is
// corrupt", "inflate: data stream error", "unable to unpack <id> header", "bad packed object CRC".
var damage = regexp.MustCompile(`corrupt|inflate|unpack|bad (packed )?object|garbage|missing`)

// Hidden returns why objects that are not found can be intact: a folder of objects, a pack or its index
// cannot be opened, or an alternate is missing. It returns nil if every place was looked at.
func Hidden(dirs []string) error {
	for _, dir := range dirs {
		alternates, _ := os.ReadFile(filepath.Join(dir, "info", "alternates"))
		for line := range strings.Lines(string(alternates)) {
			line = strings.TrimSuffix(line, "\n")
			if !filepath.IsAbs(line) {
				line = filepath.Join(dir, line)
			}
			if _, err := os.Stat(line); err != nil && line != dir {
				return err
			}
		}
		folders, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, folder := range folders {
			if folder.Name() != "pack" && len(folder.Name()) != 2 {
				continue
			}
			files, err := os.ReadDir(filepath.Join(dir, folder.Name()))
			for _, file := range files {
				if folder.Name() == "pack" && err == nil {
					err = canOpen(filepath.Join(dir, "pack", file.Name()))
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func canOpen(path string) error {
	f, err := os.Open(path)
	if err == nil {
		f.Close()
	}
	return err
}
