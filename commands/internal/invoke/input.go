package invoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/checkpoint"
)

// RootPath converts a path from the working directory to a path relative to the root. As in git, a path
// that begins with :/ is one from the root.
func (c *Invocation) RootPath(name string) (string, error) {
	if name == "" {
		return "", errors.New("empty path")
	}
	p := path.Join(c.Store.Prefix(), filepath.ToSlash(name))
	if filepath.IsAbs(name) {
		p = Below(c.Store.Root(), name)
	} else if top, ok := strings.CutPrefix(name, ":/"); ok {
		p = path.Clean(top)
	}
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", fmt.Errorf("%q is outside the worktree", name)
	}
	return p, nil
}

// Below returns an absolute path relative to the root. The root contains no symlinks, but
// the directory of the path may.
func Below(root, name string) string {
	for _, dir := range []string{filepath.Dir(name), Resolved(filepath.Dir(name))} {
		rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(name)))
		if err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return ".."
}

// Resolved returns a directory without symlinks, as far as they can be resolved.
func Resolved(dir string) string {
	if name, err := filepath.EvalSymlinks(dir); err == nil {
		return name
	}
	return dir
}

// Await returns the result of a function, which runs in a goroutine. If the context ends, it waits
// for another time, and then abandons the function: late is true, and the error is that of the
// context. A panic of the function becomes an error.
func Await[T any](ctx context.Context, another time.Duration, do func() (T, error)) (value T, late bool, err error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if broken := recover(); broken != nil {
				r.err = fmt.Errorf("%v", broken)
			}
			done <- r
		}()
		r.value, r.err = do()
	}()
	select {
	case r := <-done:
		return r.value, false, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.value, false, r.err
	case <-time.After(another):
		return value, true, ctx.Err()
	}
}

// ReadInput reads a file, or standard input for "-". Content above a record's size limit
// is an error.
func (c *Invocation) ReadInput(name string) ([]byte, error) {
	in := c.Input()
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	limit := int64(checkpoint.DefaultLimits.Bytes)
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: more than the limit of %d bytes", name, limit)
	}
	return data, err
}

// ReadPlain reads at most limit bytes of a regular file below the root of a worktree, and returns
// the size of the file. It fails with ErrNotPlain if the path is no regular file: to open a pipe
// would wait for a writer.
func ReadPlain(worktree, place string, limit int64) (data []byte, size int64, err error) {
	root, err := os.OpenRoot(worktree)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	name, shown := filepath.FromSlash(place), view.QuotePath(place)
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, 0, err
	case info.IsDir():
		return nil, 0, fmt.Errorf("%s is a directory: %w", shown, fs.ErrNotExist)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s: %w", shown, ErrNotPlain)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, limit))
	return data, info.Size(), err
}

// ErrNotPlain reports a path that is no regular file, such as a pipe or a device.
var ErrNotPlain = errors.New("not a plain file")
