// Package gitconfig reads git's configuration files without a git process, which saves a
// third of a short command's time.
//
// It reads only plain configurations and leaves other cases to git: includes, environment
// variables that change the sources, repositories of other users, and git binaries with
// an unknown system file. The same applies to files that git rejects or whose
// interpretation depends on the version. Results equal `git config --list --show-scope
// --show-origin`, in the same order. Tests compare both.
//
// The rows start, prepush and save of testdata/bench pay for this package. go-git has no includes
// and no conditions, so it cannot replace it.
package gitconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
)

// A Place is the location of a repository, found without running git.
type Place struct {
	Root      string   // root of the worktree, without symlinks
	Passed    []string // directories between Root and the working directory
	GitDir    string   // $GIT_DIR
	CommonDir string   // $GIT_COMMON_DIR
}

// Read returns git's settings for a place, in the order in which git reads them. It
// returns false if only git can read them. git is the path of the git binary.
func Read(p Place, binary string) ([]git.ConfigEntry, bool) {
	if slices.ContainsFunc(speaking, func(name string) bool { return os.Getenv(name) != "" }) || !p.trusted() || !p.valid() {
		return nil, false
	}
	shared, ok := outside(binary)
	if !ok {
		return nil, false
	}
	var entries []git.ConfigEntry
	for _, f := range append(shared, p.own()) {
		if entries, ok = f.read(entries); !ok {
			return nil, false
		}
	}
	switch split, ok := form(entries); {
	case !ok:
		return nil, false
	case split:
		return p.ownWorktree().read(entries)
	}
	return entries, true
}

// speaking are environment variables that change settings, or the directory in which git
// searches for a repository.
var speaking = []string{
	"GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CEILING_DIRECTORIES",
	"GIT_TEST_ASSUME_DIFFERENT_OWNER", "GIT_IMPLICIT_WORK_TREE",
}

// A file is a configuration file.
type file struct{ path, scope, origin string }

// read appends the settings of a file. Like git, it treats a missing file and /dev/null
// as empty.
func (f file) read(entries []git.ConfigEntry) ([]git.ConfigEntry, bool) {
	if f.path == os.DevNull {
		return entries, true
	}
	data, err := ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return entries, true
	}
	if err != nil {
		return nil, false
	}
	found, ok := parse(data)
	for _, v := range found {
		entries = append(entries, git.ConfigEntry{Key: v.key, Value: v.value, Scope: f.scope, Origin: "file:" + f.origin})
	}
	return entries, ok
}

// outside returns the files of system and user.
func outside(git string) ([]file, bool) {
	system, ok := systemFile(git)
	if !ok {
		return nil, false
	}
	user, ok := userFiles()
	return append(system, user...), ok
}

// systemFile returns the system file and whether it is known. A git with prefix /usr has
// its system file in /etc, according to git's Makefile.
func systemFile(git string) ([]file, bool) {
	path, named := os.LookupEnv("GIT_CONFIG_SYSTEM")
	switch off := os.Getenv("GIT_CONFIG_NOSYSTEM"); {
	case off == "1" || off == "true":
		return nil, true
	case off != "" && off != "0" && off != "false":
		return nil, false
	case !named && !distributed(git):
		return nil, false
	case !named:
		path = "/etc/gitconfig"
	}
	return []file{{path, "system", path}}, filepath.IsAbs(path) && filepath.Clean(path) == path // git prints it cleaned
}

// userFiles returns the user's two files, or the file that GIT_CONFIG_GLOBAL names.
func userFiles() ([]file, bool) {
	if path, set := os.LookupEnv("GIT_CONFIG_GLOBAL"); set {
		return []file{{path, "global", path}}, filepath.IsAbs(path)
	}
	home := os.Getenv("HOME")
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if xdg == "" {
		xdg = home + "/.config"
	}
	xdg += "/git/config"
	path := home + "/.gitconfig"
	return []file{{xdg, "global", xdg}, {path, "global", path}}, filepath.IsAbs(home) && filepath.IsAbs(xdg)
}

// own returns the configuration file of the repository.
func (p Place) own() file {
	path := filepath.Join(p.CommonDir, "config")
	return file{path, "local", p.origin(path)}
}

// ownWorktree returns the configuration file of the worktree.
func (p Place) ownWorktree() file {
	path := filepath.Join(p.GitDir, "config.worktree")
	return file{path, "worktree", p.origin(path)}
}

// origin returns the path as git prints it. It is relative to the root if the worktree
// contains its git directory.
func (p Place) origin(path string) string {
	if within := filepath.Join(p.Root, ".git"); p.GitDir == within {
		return strings.TrimPrefix(path, p.Root+"/")
	}
	return path
}

// valid reports whether git accepts the place as a repository and this package knows its
// format.
func (p Place) valid() bool {
	path := filepath.Join(p.GitDir, "HEAD")
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false // for a symlink, git checks the target's name
	}
	head, err := ReadFile(path)
	if err != nil || !strings.HasPrefix(string(head), "ref: refs/") && !isHash(strings.TrimSuffix(string(head), "\n")) {
		return false
	}
	for _, folder := range []string{"objects", "refs"} {
		info, err := os.Stat(filepath.Join(p.CommonDir, folder))
		if err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

func isHash(text string) bool {
	return len(text) == objectformat.HexSize && strings.Trim(text, "0123456789abcdef") == ""
}

// form reports whether worktrees have separate configuration files, and whether all git
// versions interpret the repository format equally. Git ignores extensions if the
// repository has no format version, and rejects an object format in version 0.
func form(entries []git.ConfigEntry) (split, ok bool) {
	version, named := "", false
	for _, e := range entries {
		name, extension := strings.CutPrefix(e.Key, "extensions.")
		switch {
		case e.Scope != "local":
		case e.Key == "core.repositoryformatversion" && (e.Value == "0" || e.Value == "1"):
			version = e.Value
		case e.Key == "core.repositoryformatversion":
			return false, false
		case e.Key == "core.bare" && e.Value != "true" && e.Value != "false":
			return false, false
		case name == "worktreeconfig" && (e.Value == "true" || e.Value == "false"):
			split = e.Value == "true"
		case name == "objectformat" && e.Value == objectformat.Name:
			named = true
		case extension && name != "partialclone":
			return false, false
		}
	}
	return split, (version != "" || !split) && (version == "1" || !named)
}
