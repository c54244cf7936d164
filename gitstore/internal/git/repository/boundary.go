package repository

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/gitstore/fsutil"
)

// Reasons why a path is outside the boundary of a worktree.
const (
	IsNested    = "a repository of its own"
	IsGitDir    = "the git directory of this repository"
	IsObjectDir = "objects of this repository"
	IsIndex     = "the index of this repository"

	IsOtherGitDir = "the git directory of another repository"
)

// A Boundary decides which paths below the root of a worktree belong to a repository, and
// not to the worktree: the git directory, object directories and alternates, whatever
// their names, the index, and each directory that is a repository of its own. Files there
// are never captured, restored or removed.
//
// A Boundary caches its decisions for one operation. It is used by one goroutine.
type Boundary struct {
	// Tracks reports whether the index has a path. A bare repository whose HEAD is tracked
	// is content of the worktree, such as a test fixture. Nil means that no path is tracked.
	Tracks func(path string) bool

	repo    Info
	own     func() []ownDir // read once, because most saves have no path to decide
	index   func() []string // index file and its lock, relative to the root with slashes
	decided map[string]Foreign
}

// An ownDir is an existing directory of the repository.
type ownDir struct {
	info   fs.FileInfo
	reason string
}

// A Foreign is a directory or file of a repository, with the reason. The zero value means
// that the path belongs to the worktree.
type Foreign struct {
	Path   string // relative to the root, with a slash at the end of a directory
	Reason string
}

// Boundary returns the boundary of the worktree.
func (r Info) Boundary() *Boundary {
	return &Boundary{repo: r, own: sync.OnceValue(r.ownDirs), index: sync.OnceValue(r.indexInWorktree), decided: map[string]Foreign{}}
}

// ownDirs returns the existing directories of the repository.
func (r Info) ownDirs() []ownDir {
	var own []ownDir
	add := func(dir, reason string) {
		if info, err := os.Stat(dir); err == nil {
			own = append(own, ownDir{info, reason})
		}
	}
	add(r.Dir, IsGitDir)
	add(r.CommonDir, IsGitDir)
	for _, dir := range r.ObjectDirs() {
		add(dir, IsObjectDir)
	}
	return own
}

// indexInWorktree returns the path of the index and of its lock if GIT_INDEX_FILE names a
// file of the worktree.
func (r Info) indexInWorktree() []string {
	dir, name := filepath.Split(r.Index)
	if filepath.Clean(dir) == r.Dir {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(r.Root, filepath.Join(dir, name))
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	rel = filepath.ToSlash(rel)
	return []string{rel, rel + ".lock"}
}

// Find returns the topmost directory of a path that belongs to a repository, or the zero
// Foreign. The path is that of a file, relative to the root, with slashes. A slash at its
// end marks a directory that git has reported as a repository.
func (b *Boundary) Find(name string) Foreign {
	if b == nil {
		return Foreign{}
	}
	if dir, reported := strings.CutSuffix(name, "/"); reported {
		if f := b.inDir(dir); f.Reason != "" {
			return f
		}
		return Foreign{name, IsNested}
	}
	if slices.Contains(b.index(), name) {
		return Foreign{name, IsIndex}
	}
	return b.inDir(path.Dir(name))
}

// inDir decides whether a directory, or a directory above it, belongs to a repository.
func (b *Boundary) inDir(dir string) Foreign {
	if dir == "." || dir == "" || dir == "/" {
		return Foreign{}
	}
	f, known := b.decided[dir]
	if known {
		return f
	}
	if f = b.inDir(path.Dir(dir)); f.Reason == "" {
		if reason := b.reason(dir); reason != "" {
			f = Foreign{dir + "/", reason}
		}
	}
	b.decided[dir] = f
	return f
}

// reason returns the reason why a directory is not part of the worktree, or "".
func (b *Boundary) reason(dir string) string {
	full := filepath.Join(b.repo.Root, filepath.FromSlash(dir))
	info, err := os.Lstat(full)
	if err != nil || !info.IsDir() {
		return ""
	}
	if reason := b.ownReason(info); reason != "" {
		return reason
	}
	if b.hasGitDir(full) || isBare(full) && (b.Tracks == nil || !b.Tracks(dir+"/HEAD")) {
		return IsNested
	}
	return ""
}

func (b *Boundary) ownReason(info fs.FileInfo) string {
	for _, own := range b.own() {
		if os.SameFile(own.info, info) {
			return own.reason
		}
	}
	return ""
}

// FindPlace returns the git directory or object directory that contains a path, of this or
// of another repository, or the zero Foreign. The path is absolute, need not exist, and
// need not be in the worktree.
func (b *Boundary) FindPlace(name string) Foreign {
	for at := reached(name); at != b.repo.Root; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && info.IsDir() {
			reason := b.ownReason(info)
			if reason == "" && isBare(at) {
				reason = IsOtherGitDir
			}
			if reason != "" {
				return Foreign{at, reason}
			}
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			break // the root of another worktree
		}
	}
	return Foreign{}
}

// reached resolves the symlinks of a path, as far as the path exists.
func reached(name string) string {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		return to
	}
	up := filepath.Dir(name)
	if up == name {
		return name
	}
	return filepath.Join(reached(up), filepath.Base(name))
}

// hasGitDir reports whether .git in a directory is or names a git directory other than
// that of this worktree. A .git that cannot be read counts, also one that names a missing
// directory: the repository may be mounted elsewhere.
func (b *Boundary) hasGitDir(dir string) bool {
	name := filepath.Join(dir, ".git")
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := os.Lstat(name)
		return err == nil // a symlink to a missing directory
	case err != nil:
		return true
	case info.IsDir():
		_, err := os.Lstat(filepath.Join(name, "HEAD"))
		return !errors.Is(err, fs.ErrNotExist) && !b.isGitDir(info)
	}
	data, err := os.ReadFile(name)
	if err != nil || !strings.HasPrefix(string(data), "gitdir: ") {
		return err != nil
	}
	to, ok := gitDirAt(dir)
	if !ok {
		return true
	}
	info, err = os.Stat(to)
	return err != nil || !b.isGitDir(info)
}

// isGitDir reports whether a directory is the git directory of this worktree.
func (b *Boundary) isGitDir(info fs.FileInfo) bool {
	own, err := os.Stat(b.repo.Dir)
	return err == nil && os.SameFile(own, info)
}

// isBare reports whether a directory has the parts by which git recognizes a git directory.
func isBare(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return entered(filepath.Join(dir, "objects")) && entered(filepath.Join(dir, "refs"))
}

// entered reports whether a directory can be entered. Otherwise git rejects the
// repository.
func entered(dir string) bool { return fsutil.Exists(dir + string(filepath.Separator) + ".") }

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

// maxPathFile is the maximum size in bytes of a file that contains a path.
const maxPathFile = 1 << 20

// readPath reads a file that contains a path relative to base. Like git, it resolves
// symlinks before "..". It reads no irregular file, because the repository may be hostile:
// reading a pipe or a device might never end.
func readPath(file, prefix, base string) (string, bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPathFile {
		return "", false
	}
	data, err := os.ReadFile(file)
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
