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

// A folder is an os.DirFS that accepts ref names, which may be invalid UTF-8.
type folder string

func (d folder) file(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d folder) Open(name string) (fs.File, error)          { return os.Open(d.file(name)) }
func (d folder) ReadFile(name string) ([]byte, error)       { return os.ReadFile(d.file(name)) }
func (d folder) Stat(name string) (fs.FileInfo, error)      { return os.Stat(d.file(name)) }
func (d folder) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(d.file(name)) }

// readStored reads the file of a ref. It fails with fs.ErrNotExist if a case-insensitive
// file system opened a name with different case, because that file is another ref.
func readStored(dir fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(dir, name)
	if err == nil && !storedAs(dir, name) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return data, err
}

// storedAs reports whether an existing file has exactly this name. It lists the directory
// only if the name with swapped case exists too.
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
