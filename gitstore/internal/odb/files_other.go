//go:build !unix

package odb

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

func slurp(path string, _ []byte) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.Size() > maxObject+maxObject>>8 {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return os.ReadFile(path)
}

var errCannotMap = errors.New("file cannot be mapped")

func mapFile(*os.File, int64) ([]byte, error) { return nil, errCannotMap }

func unmap([]byte) error { return nil }

type change struct {
	dev, ino uint64
	at       time.Time
}

// changeOf always fails on this system: files of other programs cannot be synced here,
// and Git for Windows syncs its objects.
func changeOf(string) (change, error) { return change{}, errors.ErrUnsupported }

func changedFanOut(string, time.Time) []string { return nil }

func changedFiles(string, time.Time) []string { return nil }
