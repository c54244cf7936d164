package restore

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"git-checkpoint/gitstore/fsutil"
)

// diskNames finds the names under which directories list existing files. On a file system
// that ignores case, such a name can differ from the name that opened the file.
type diskNames struct {
	root   *os.Root
	dirs   map[string]string          // stored paths of directories
	listed map[string]map[string]bool // names in directories that were listed
}

// dir returns the stored path of a directory.
func (d *diskNames) dir(name string) string {
	if name == "." || name == "" {
		return ""
	}
	stored, known := d.dirs[name]
	if known {
		return stored
	}
	stored = name
	if pl, err := openPlace(d.root, name, false); err == nil {
		stored = d.file(pl, name)
		pl.close()
	}
	d.dirs[name] = stored
	return stored
}

// file returns the stored path of an existing file, whose place is open.
func (d *diskNames) file(pl place, name string) string {
	return path.Join(d.dir(path.Dir(name)), d.base(pl, path.Dir(name)))
}

// base returns the name under which the directory of a file lists it.
func (d *diskNames) base(pl place, dir string) string {
	return storedBase(pl.name, pl.dir.Lstat, func() map[string]bool {
		names, ok := d.listed[dir]
		if !ok {
			names = listNames(pl.dir)
			d.listed[dir] = names
		}
		return names
	})
}

// storedBase returns the name under which a directory lists an existing file. It calls list only
// if the name may be an alias.
func storedBase(name string, lstat func(string) (fs.FileInfo, error), list func() map[string]bool) string {
	info, err := lstat(name)
	if err != nil {
		return name
	}
	opens := func(other string) bool {
		there, err := lstat(other)
		return err == nil && os.SameFile(info, there)
	}
	if !fsutil.MayBeAlias(name, opens) {
		return name
	}
	names := list()
	if names[name] {
		return name
	}
	for stored := range names {
		if opens(stored) {
			return stored
		}
	}
	return name
}

// listNames returns the names in a directory, or nil if it is not readable.
func listNames(dir *os.Root) map[string]bool {
	entries, err := readDir(dir)
	if err != nil {
		return nil
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}

// otherDir returns the topmost parent directory of a path whose name differs from the stored
// path. It returns "" if all parent directories are equal.
func otherDir(name, stored string) string {
	names, others := strings.Split(name, "/"), strings.Split(stored, "/")
	for i := range min(len(names), len(others)) - 1 {
		if names[i] != others[i] {
			return strings.Join(names[:i+1], "/")
		}
	}
	return ""
}
