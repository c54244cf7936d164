package repository

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/gitconfig"
)

// speaking are environment variables that set paths of the repository.
var speaking = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_SHALLOW_FILE",
	"GIT_NAMESPACE", "GIT_REFERENCE_BACKEND",
}

// Variables returns the environment variables that set paths of the repository. A git
// process in another repository must not inherit them.
func Variables() []string { return slices.Clone(speaking) }

// Discover finds the repository like git in the simple case: .git exists in the working
// directory or a parent, and no environment variable sets a path. In other cases it
// returns false.
func Discover(dir string) (Info, bool) {
	r, _, ok := guess(dir)
	return r, ok
}

// guess is Discover, and also returns the directories between root and dir.
func guess(dir string) (r Info, passed []string, ok bool) {
	if slices.ContainsFunc(speaking, isSet) {
		return Info{}, nil, false
	}
	start, err := physical(dir)
	if err != nil {
		return Info{}, nil, false
	}
	for at := start; ; at = filepath.Dir(at) {
		if fsutil.Exists(filepath.Join(at, ".git")) {
			gitDir, ok := gitDirAt(at)
			if !ok {
				return Info{}, nil, false // git rejects it, or continues the search
			}
			r, ok = guessAt(at, gitDir, start)
			return r, passed, ok
		}
		if fsutil.Exists(filepath.Join(at, "HEAD")) || at == filepath.Dir(at) {
			return Info{}, nil, false
		}
		passed = append(passed, at)
	}
}

// physical returns a directory without symlinks. Relative paths in git's output are
// relative to it.
func physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// gitDirAt returns the git directory that .git in a directory is or names.
func gitDirAt(root string) (string, bool) {
	path := filepath.Join(root, ".git")
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return path, true
	}
	return readPath(path, "gitdir: ", root)
}

// readPath reads a file that contains a path relative to base. Like git, it resolves
// symlinks before "..".
func readPath(file, prefix, base string) (string, bool) {
	data, err := gitconfig.ReadFile(file)
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if err != nil || !ok || path == "" {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = base + string(filepath.Separator) + path
	}
	path, err = filepath.EvalSymlinks(path)
	return path, err == nil
}

func guessAt(root, gitDir, start string) (Info, bool) {
	r := Info{Dir: gitDir, CommonDir: gitDir, Root: root, RefFormat: "files", Alternates: alternates(root)}
	if file := filepath.Join(gitDir, "commondir"); fsutil.Exists(file) {
		common, ok := readPath(file, "", gitDir)
		if !ok {
			return Info{}, false
		}
		r.CommonDir = common
	}
	r.Index, r.ObjectDir = filepath.Join(r.Dir, "index"), filepath.Join(r.CommonDir, "objects")
	r.Shallow = fsutil.Exists(filepath.Join(r.CommonDir, "shallow"))
	if below, err := filepath.Rel(root, start); err == nil && below != "." {
		r.Prefix = filepath.ToSlash(below) + "/"
	}
	return r, entered(r.ObjectDir) && entered(filepath.Join(r.CommonDir, "refs"))
}

// entered reports whether a directory can be entered. Otherwise git rejects the
// repository.
func entered(dir string) bool { return fsutil.Exists(dir + string(filepath.Separator) + ".") }

// isSet reports whether an environment variable is set. Like git, it accepts an empty
// value.
func isSet(name string) bool {
	_, set := os.LookupEnv(name)
	return set
}

// confirmed reports whether git found the same repository. Git read the repository's
// configuration from the same file, which it does only for a trusted repository, and no
// setting moves the worktree.
func (r Info) confirmed(entries []git.ConfigEntry) bool {
	own, err := os.Stat(filepath.Join(r.CommonDir, "config"))
	if err != nil {
		return false
	}
	if bare, _ := git.Last(entries, "core.bare"); git.Bool(bare) {
		return false
	}
	if _, moved := git.Last(entries, "core.worktree"); moved {
		return false
	}
	return slices.ContainsFunc(entries, func(e git.ConfigEntry) bool {
		path, file := strings.CutPrefix(e.Origin, "file:")
		if e.Scope != "local" || !file {
			return false
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.Root, path)
		}
		info, err := os.Stat(path)
		return err == nil && os.SameFile(own, info)
	})
}
