package refs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// A folder is os.DirFS for the names of refs, which need not be UTF-8.
type folder string

func (d folder) file(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d folder) Open(name string) (fs.File, error)          { return os.Open(d.file(name)) }
func (d folder) ReadFile(name string) ([]byte, error)       { return os.ReadFile(d.file(name)) }
func (d folder) Stat(name string) (fs.FileInfo, error)      { return os.Stat(d.file(name)) }
func (d folder) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(d.file(name)) }

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
	parent, base := path.Split(name)
	other := strings.Map(swapCase, base)
	if other == base {
		return true
	}
	if _, err := fs.Stat(dir, parent+other); err != nil {
		return true
	}
	entries, err := fs.ReadDir(dir, path.Clean(parent))
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == base })
}

func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}
