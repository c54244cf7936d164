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
	in     *places
	dirs   map[string]string          // stored paths of directories
	listed map[string]map[string]bool // names in directories
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
	parent := d.dir(path.Dir(name)) // before the place is open, because it uses the places too
	stored = name
	if pl, err := d.in.open(name, false); err == nil {
		if info, err := pl.dir.Lstat(pl.name); err == nil {
			stored = path.Join(parent, d.base(pl, info, path.Dir(name)))
		}
	}
	d.dirs[name] = stored
	return stored
}

// file returns the stored path of an existing file, whose place is open.
func (d *diskNames) file(pl place, info fs.FileInfo, name string) string {
	return path.Join(d.dir(path.Dir(name)), d.base(pl, info, path.Dir(name)))
}

// base returns the name under which the directory of a file lists it.
func (d *diskNames) base(pl place, info fs.FileInfo, dir string) string {
	return storedName(pl.name, info, pl.dir.Lstat, func() map[string]bool {
		if d.listed[dir] == nil {
			d.listed[dir] = map[string]bool{}
			entries, _ := readDir(pl.dir)
			for _, e := range entries {
				d.listed[dir][e.Name()] = true
			}
		}
		return d.listed[dir]
	})
}

// storedName returns the name under which the directory lists an existing file. It calls list only if
// the name may be an alias.
func storedName(name string, info fs.FileInfo, lstat func(string) (fs.FileInfo, error), list func() map[string]bool) string {
	opens := func(other string) bool {
		there, err := lstat(other)
		return err == nil && os.SameFile(info, there)
	}
	if !fsutil.MayBeAlias(name, opens) || list()[name] {
		return name
	}
	for stored := range list() {
		if opens(stored) {
			return stored
		}
	}
	return name
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
