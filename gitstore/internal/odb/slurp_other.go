//go:build !unix

package odb

import (
	"io/fs"
	"os"
)

func slurp(path string, _ []byte) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.Size() > maxObject+maxObject>>8 {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return os.ReadFile(path)
}
