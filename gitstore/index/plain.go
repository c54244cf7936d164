package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Git runs git with variables added to its environment and returns what it
// writes to stdout.
type Git func(ctx context.Context, env []string, args ...string) ([]byte, error)

// plainArgs make git write the index it reads again, whole and in the full
// form, without a hint, a hook or a file system monitor on the way. An empty
// core.fsmonitor is off for the gits that take a path there, too; an option
// and a setting that disagree about the split make git warn.
var plainArgs = []string{
	"-c", "core.splitIndex=false",
	"-c", "index.sparse=false",
	"-c", "advice.sparseIndexExpanded=false",
	"-c", "core.fsmonitor=",
	"-c", "core.hooksPath=" + os.DevNull,
	"update-index", "--no-split-index", "--force-write-index",
}

// Plain opens the index at path by way of a copy in tempDir that git turns
// into the full form. git has to run in the repository of the index, because
// the other half of a split one is there. The index itself is not touched.
// The function that comes back closes and removes the copy.
func Plain(ctx context.Context, git Git, path, tempDir string) (*Index, func(), error) {
	copied, modTime, err := copyTemp(path, tempDir)
	if err != nil {
		return nil, nil, fmt.Errorf("copy index: %s: %w", path, err)
	}
	remove := func() {
		os.Remove(copied)
		os.Remove(copied + ".lock") // of a git that was killed
	}
	x, err := convert(ctx, git, copied)
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("read index through git: %s: %w", path, err)
	}
	x.path, x.modTime = path, modTime
	return x, func() { x.Close(); remove() }, nil
}

func convert(ctx context.Context, git Git, path string) (*Index, error) {
	if _, err := git(ctx, []string{"GIT_INDEX_FILE=" + path}, plainArgs...); err != nil {
		return nil, err
	}
	return open(path, mapThreshold)
}

// copyTemp copies a file to a new one in dir with an absolute path and the
// same date: git compares the dates of files with it, to tell which entries
// it cannot trust.
func copyTemp(path, dir string) (_ string, modTime time.Time, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", time.Time{}, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return "", time.Time{}, bare(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", time.Time{}, bare(err)
	}
	f, err := os.CreateTemp(dir, fmt.Sprintf("index-%d-*", os.Getpid()))
	if err != nil {
		return "", time.Time{}, err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close(), os.Chtimes(f.Name(), time.Time{}, stat.ModTime()))
	if err != nil {
		os.Remove(f.Name())
		return "", time.Time{}, err
	}
	return f.Name(), stat.ModTime(), nil
}
