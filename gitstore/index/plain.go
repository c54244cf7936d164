package index

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Git runs git with variables added to its environment and returns what it
// writes to stdout.
type Git func(ctx context.Context, env []string, args ...string) ([]byte, error)

// plainArgs make git write the index it reads again, whole and in the full
// form. They keep it from running hooks and a file system monitor.
var plainArgs = []string{
	"-c", "core.splitIndex=false",
	"-c", "index.sparse=false",
	"-c", "core.fsmonitor=",
	"-c", "core.hooksPath=" + os.DevNull,
	"update-index", "--no-split-index", "--force-write-index",
}

// Plain opens the index at path by way of a copy in tempDir that git turns
// into the full form. git has to run in the repository of the index, because
// the other half of a split one is there. The index itself is not touched.
// The function that comes back closes and removes the copy.
func Plain(ctx context.Context, git Git, path, tempDir string) (*Index, func(), error) {
	copied, err := copyTemp(path, tempDir)
	if err != nil {
		return nil, nil, fmt.Errorf("copy index: %s: %w", path, err)
	}
	remove := func() {
		os.Remove(copied)
		os.Remove(copied + ".lock")
	}
	if _, err := git(ctx, []string{"GIT_INDEX_FILE=" + copied}, plainArgs...); err != nil {
		remove()
		return nil, nil, fmt.Errorf("read index through git: %s: %w", path, err)
	}
	x, err := Open(copied)
	if err != nil {
		remove()
		return nil, nil, err
	}
	x.path = path
	return x, func() { x.Close(); remove() }, nil
}

// copyTemp copies a file to a new one in dir and returns its path.
func copyTemp(path, dir string) (_ string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", bare(err)
	}
	f, err := os.CreateTemp(dir, fmt.Sprintf("index-%d-*", os.Getpid()))
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
