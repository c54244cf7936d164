package gitconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
)

// A Place is where a repository was found without git's help.
type Place struct {
	Root      string   // of the worktree, without symlinks
	Passed    []string // the folders below Root that lead to the working directory
	GitDir    string   // $GIT_DIR
	CommonDir string   // $GIT_COMMON_DIR
}

// Read lists the settings that git has in a place, in the order in which git
// reads them. It reports false where git has to be asked. git is the binary
// that would be.
func Read(p Place, git string) ([]gitcmd.ConfigEntry, bool) {
	if slices.ContainsFunc(speaking, func(name string) bool { return os.Getenv(name) != "" }) || !p.trusted() || !p.valid() {
		return nil, false
	}
	shared, ok := outside(git)
	if !ok {
		return nil, false
	}
	var entries []gitcmd.ConfigEntry
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

// speaking are the variables that change which settings there are, or where
// git looks for a repository.
var speaking = []string{
	"GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CEILING_DIRECTORIES",
	"GIT_TEST_ASSUME_DIFFERENT_OWNER", "GIT_IMPLICIT_WORK_TREE",
}

// A file is one of the files that git reads.
type file struct{ path, scope, origin string }

// read adds the settings of a file. One that is not there has none for git,
// and nor has the one that stands for no file.
func (f file) read(entries []gitcmd.ConfigEntry) ([]gitcmd.ConfigEntry, bool) {
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
		entries = append(entries, gitcmd.ConfigEntry{Key: v.key, Value: v.value, Scope: f.scope, Origin: "file:" + f.origin})
	}
	return entries, ok
}

// outside are the files of the system and of the user.
func outside(git string) ([]file, bool) {
	system, ok := systemFile(git)
	if !ok {
		return nil, false
	}
	user, ok := userFiles()
	return append(system, user...), ok
}

// systemFile is the system's file, where it is known. Git's Makefile puts it
// into /etc for a git that is installed below /usr.
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
	return []file{{path, "system", path}}, filepath.IsAbs(path) && filepath.Clean(path) == path // git names it cleaned
}

// userFiles are the user's two files, or the one that stands for both.
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

// own is the repository's file.
func (p Place) own() file {
	path := filepath.Join(p.CommonDir, "config")
	return file{path, "local", p.origin(path)}
}

// ownWorktree is the worktree's file.
func (p Place) ownWorktree() file {
	path := filepath.Join(p.GitDir, "config.worktree")
	return file{path, "worktree", p.origin(path)}
}

// origin is how git names a file: from the root of a worktree that has its
// repository in it.
func (p Place) origin(path string) string {
	if within := filepath.Join(p.Root, ".git"); p.GitDir == within {
		return strings.TrimPrefix(path, p.Root+"/")
	}
	return path
}

// valid reports whether git takes the place for a repository, of whose form
// it knows all.
func (p Place) valid() bool {
	path := filepath.Join(p.GitDir, "HEAD")
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false // git judges a symlink by its target's name
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
	return len(text) == 40 && strings.Trim(text, "0123456789abcdef") == ""
}

// form reports whether worktrees have files of their own, and whether every
// version of git takes the repository's form for the same. Git overlooks the
// extensions of a repository that names no version.
func form(entries []gitcmd.ConfigEntry) (split, ok bool) {
	versioned := false
	for _, e := range entries {
		name, extension := strings.CutPrefix(e.Key, "extensions.")
		switch {
		case e.Scope != "local":
		case e.Key == "core.repositoryformatversion" && (e.Value == "0" || e.Value == "1"):
			versioned = true
		case e.Key == "core.repositoryformatversion":
			return false, false
		case e.Key == "core.bare" && e.Value != "true" && e.Value != "false":
			return false, false
		case name == "worktreeconfig" && (e.Value == "true" || e.Value == "false"):
			split = e.Value == "true"
		case extension && name != "partialclone":
			return false, false
		}
	}
	return split, versioned || !split
}
