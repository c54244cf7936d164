package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// PlaceFile puts a new file at a path in one step, instead of the file or
// symlink that is there.
func PlaceFile(path, text string, mode fs.FileMode) error {
	removeStale(path)
	return Replacement{Path: path}.replace(text, mode, nil)
}

// PlaceSymlink puts a symlink at a path in one step, instead of the file or
// symlink that is there.
func PlaceSymlink(path, target string) error {
	removeStale(path)
	temp := filepath.Join(filepath.Dir(path), tempPrefix(path)+strconv.Itoa(os.Getpid())+"-0")
	if err := os.Symlink(target, temp); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return syncDir(filepath.Dir(path))
}
