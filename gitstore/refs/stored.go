package refs

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
)

// readStored reads the file of a ref. A file whose name differs in case is
// another ref's: a file system without case opens it all the same.
func readStored(dir fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(dir, name)
	if err == nil && !storedAs(dir, name) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return data, err
}

// storedAs reports whether a file that can be opened has exactly this name. The
// folder is only listed if the name in the other case is a file, too.
func storedAs(dir fs.FS, name string) bool {
	folder, base := path.Split(name)
	other := strings.Map(swapCase, base)
	if other == base {
		return true
	}
	if _, err := fs.Stat(dir, folder+other); err != nil {
		return true
	}
	entries, err := fs.ReadDir(dir, path.Clean(folder))
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == base })
}

func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}
