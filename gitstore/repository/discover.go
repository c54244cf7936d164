package repository

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/gitconfig"
	"git-checkpoint/gitstore/internal/fsutil"
)

// speaking are the variables that tell git where things are.
var speaking = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_SHALLOW_FILE",
	"GIT_NAMESPACE",
}

// Discover finds the repository as git does where no variable speaks of it: at
// or above the working directory something is called .git. It gives up where
// git has more to think about.
func Discover(dir string) (Info, bool) {
	r, _, ok := guess(dir)
	return r, ok
}

// guess tells the folders too that it passed below the root.
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
				return Info{}, nil, false // git refuses it, or looks further up
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

// physical is a directory without symlinks: git answers relative to that.
func physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// gitDirAt is what .git in a directory stands for.
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

// readPath reads a file that holds a path, relative to base, and follows it as
// git does: what ".." is after a symlink the file system knows.
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
	r := Info{Dir: gitDir, CommonDir: gitDir, Root: root, RefFormat: "files"}
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

// entered reports whether a folder can be gone into: else the repository is none
// to git.
func entered(dir string) bool { return fsutil.Exists(dir + string(filepath.Separator) + ".") }

// isSet reports whether a variable is there. Git minds also an empty one.
func isSet(name string) bool {
	_, set := os.LookupEnv(name)
	return set
}

// confirmed reports whether git found the same repository: it read the
// repository's own settings from the same file, which it does not where it
// does not trust the repository, and nothing there moves the worktree.
func (r Info) confirmed(entries []gitcmd.ConfigEntry) bool {
	own, err := os.Stat(filepath.Join(r.CommonDir, "config"))
	if err != nil {
		return false
	}
	if bare, _ := gitcmd.Last(entries, "core.bare"); gitcmd.Bool(bare) {
		return false
	}
	if _, moved := gitcmd.Last(entries, "core.worktree"); moved {
		return false
	}
	return slices.ContainsFunc(entries, func(e gitcmd.ConfigEntry) bool {
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
