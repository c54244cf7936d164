package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// PlaceFile puts a new file at a path in one step, instead of the file or
// symlink that is there.
func PlaceFile(path, text string, mode fs.FileMode) error {
	removeStale(path)
	temp, err := Replacement{Path: path}.prepare(text, mode)
	return place(temp, path, err)
}

// PlaceSymlink puts a symlink at a path in one step, instead of the file or
// symlink that is there.
func PlaceSymlink(path, target string) error {
	removeStale(path)
	temp := filepath.Join(filepath.Dir(path), tempPrefix(path)+strconv.Itoa(os.Getpid())+"-0")
	return place(temp, path, os.Symlink(target, temp))
}

func place(temp, path string, err error) error {
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		if temp != "" && !errors.Is(err, fs.ErrExist) {
			os.Remove(temp)
		}
		return err
	}
	return syncDir(filepath.Dir(path))
}
