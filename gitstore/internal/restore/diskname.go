package restore

import (
	"errors"
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
	dirs   map[string]string // stored paths of directories
	listed map[string]*nameList
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
	l, known := d.listed[dir]
	if !known {
		l = &nameList{}
		d.listed[dir] = l
	}
	return l.stored(pl.name, info, pl.dir.Lstat, func() map[string]bool { return listNames(pl.dir) })
}

// A nameList knows how a directory compares names.
type nameList struct {
	exact map[bool]bool   // whether a name in another case (true) or with a character more (false) opens no file
	names map[string]bool // nil before the directory was listed
}

// stored returns the name under which the directory lists an existing file. It calls list only if
// the name may be an alias.
func (l *nameList) stored(name string, info fs.FileInfo, lstat func(string) (fs.FileInfo, error), list func() map[string]bool) string {
	opens := func(other string) bool {
		there, err := lstat(other)
		return err == nil && os.SameFile(info, there)
	}
	tried := func(other string) bool {
		kind := len(other) == len(name)
		if l.exact[kind] {
			return false
		}
		if _, err := lstat(other); errors.Is(err, fs.ErrNotExist) && opens(name) {
			if l.exact == nil {
				l.exact = map[bool]bool{}
			}
			l.exact[kind] = true // holds for the other files of the directory too
			return false
		}
		return opens(other)
	}
	if !fsutil.MayBeAlias(name, tried) {
		return name
	}
	if l.names == nil {
		l.names = list()
	}
	if l.names[name] {
		return name
	}
	for stored := range l.names {
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
