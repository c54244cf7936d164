package convert

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/internal/git"
)

// Elsewhere reports whether attributes outside the worktree may convert: attributes of
// the repository, the user or the system.
func Elsewhere(config []git.ConfigEntry, commonDir string) bool {
	_, moved := git.Last(config, "attr.tree")
	user, known := userAttributes(config)
	if moved || !known || os.Getenv("GIT_ATTR_SOURCE") != "" {
		return true
	}
	files := append(systemAttributes(config), filepath.Join(commonDir, "info", "attributes"), user)
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := os.ReadFile(file)
		return err != nil && !errors.Is(err, fs.ErrNotExist) && !isDirectory(err) || May(data)
	})
}

// userAttributes returns the user's attributes file from core.attributesFile or its
// default, and whether it is known.
func userAttributes(config []git.ConfigEntry) (file string, known bool) {
	file, set := git.Last(config, "core.attributesfile")
	home, err := os.UserHomeDir()
	if !set {
		file = filepath.Join("~", ".config", "git", "attributes")
		if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
			file = filepath.Join(dir, "git", "attributes")
		}
	}
	if below, ok := strings.CutPrefix(filepath.ToSlash(file), "~/"); ok {
		return filepath.Join(home, below), err == nil
	}
	return file, filepath.IsAbs(file)
}

// systemAttributes returns all candidates for the system's attributes file. It is next to
// the system configuration, whose location is compiled into git.
func systemAttributes(config []git.ConfigEntry) []string {
	dirs := []string{"/etc"}
	if git, err := exec.LookPath("git"); err == nil {
		prefix := filepath.Dir(filepath.Dir(git))
		// If git has started this process, PATH begins with libexec/git-core.
		dirs = append(dirs, filepath.Join(prefix, "etc"), filepath.Join(filepath.Dir(prefix), "etc"))
	}
	for _, e := range config {
		if path, file := strings.CutPrefix(e.Origin, "file:"); file && e.Scope == "system" {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	slices.Sort(dirs)
	var files []string
	for _, dir := range slices.Compact(dirs) {
		files = append(files, filepath.Join(dir, "gitattributes"))
	}
	return files
}

func isDirectory(err error) bool {
	return errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR)
}
