package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Git runs git with additional environment variables and returns its stdout.
type Git func(ctx context.Context, env []string, args ...string) ([]byte, error)

// plainArgs make git rewrite the index in full form, without hints, hooks or file system
// monitor. An empty core.fsmonitor is off, also in git versions that expect a path. The
// setting core.splitIndex must agree with the option, else git prints a warning.
var plainArgs = []string{
	"-c", "core.splitIndex=false",
	"-c", "index.sparse=false",
	"-c", "advice.sparseIndexExpanded=false",
	"-c", "core.fsmonitor=",
	"-c", "core.hooksPath=" + os.DevNull,
	"update-index", "--no-split-index", "--force-write-index",
}

// Plain opens a copy of the index at path that git has converted to full form in tempDir.
// git must run in the repository of the index, which contains the shared part of a split
// index. The original index is not changed. The returned function closes and deletes the
// copy.
func Plain(ctx context.Context, git Git, path, tempDir string) (*Index, func(), error) {
	copied, modTime, err := copyTemp(path, tempDir)
	if err != nil {
		return nil, nil, fmt.Errorf("copy index: %s: %w", path, err)
	}
	remove := func() {
		os.Remove(copied)
		os.Remove(copied + ".lock") // lock file of a killed git
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

// copyTemp copies a file to a new file in dir with an absolute path and the same
// modification time. Git compares file times with it to detect racy entries.
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
