package restore

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"git-checkpoint/gitstore/fsutil"
)

// stored returns the path under which directories list an existing file or directory. On a file system
// that ignores case, it can differ from the path that opened the file.
func (o *stateReader) stored(name string) string {
	if name == "." {
		return ""
	}
	if stored, known := o.paths[name]; known {
		return stored
	}
	parent, stored := path.Dir(name), name
	above := o.stored(parent)
	if pl, err := o.s.in.open(name, false); err == nil {
		if info, err := pl.dir.Lstat(pl.name); err == nil {
			stored = path.Join(above, storedName(pl.name, info, pl.dir.Lstat, func() map[string]bool {
				if o.listed[parent] == nil {
					o.listed[parent] = map[string]bool{}
					entries, _ := fs.ReadDir(pl.dir.FS(), ".")
					for _, e := range entries {
						o.listed[parent][e.Name()] = true
					}
				}
				return o.listed[parent]
			}))
		}
	}
	o.paths[name] = stored
	return stored
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
