package refs

import (
	"io/fs"
	"os"
	"path"
	"slices"

	"git-checkpoint/gitstore/fsutil"
)

// bookkeeping is the prefix of the refs of this program beside the chains and archives.
const bookkeeping = "refs/git-checkpoint/"

// ownRefs are the prefixes of the refs of this program. On a case-insensitive file system, an
// issue must not read the chain of another issue. Git does not distinguish such names: after
// git checkout MAIN, HEAD is the branch in the file refs/heads/main.
var ownRefs = []string{"refs/checkpoints/", "refs/checkpoints-archive/", bookkeeping}

// readFile reads the file of a ref. For a ref of this program, it fails with fs.ErrNotExist
// if the file system opened the file of another ref.
func readFile(dir fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(dir, name)
	if err == nil && Below(name, ownRefs) && isAlias(dir, name) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return data, err
}

// isTaken reports whether the file system has the file of another ref under this name, because
// it ignores case or normalizes letters.
func isTaken(dir fs.FS, name string) bool {
	info, err := fs.Stat(dir, name)
	return err == nil && info.Mode().IsRegular() && isAlias(dir, name)
}

// aliasTries limits the number of looks at a directory in which a ref moves meanwhile.
const aliasTries = 3

// isAlias reports whether a directory lists the file that a name opens under another name only.
// It lists the directory only if the name may be an alias.
func isAlias(dir fs.FS, name string) bool {
	parent, base := path.Split(name)
	opens := func(other string) bool {
		_, err := fs.Stat(dir, parent+other)
		return err == nil
	}
	if !fsutil.MayBeAlias(base, opens) {
		return false
	}
	for range aliasTries {
		info, err := fs.Stat(dir, name)
		if err != nil {
			return false
		}
		entries, err := fs.ReadDir(dir, path.Clean(parent))
		if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == base }) {
			return false
		}
		// Some file systems omit a file that is renamed meanwhile, for example btrfs.
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			other, err := fs.Stat(dir, parent+e.Name())
			return err == nil && os.SameFile(info, other)
		}) {
			return true
		}
	}
	return false
}
