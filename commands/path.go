package commands

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// rootPath converts a path from the working directory to a path relative to the root.
func (c *Invocation) rootPath(name string) (string, error) {
	if name == "" {
		return "", errors.New("empty path")
	}
	p := path.Join(c.store.Prefix(), filepath.ToSlash(name))
	if filepath.IsAbs(name) {
		p = below(c.store.Root(), name)
	}
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", fmt.Errorf("%q is outside the worktree", name)
	}
	return p, nil
}

// below returns an absolute path relative to the root. The root contains no symlinks, but
// the directory of the path may.
func below(root, name string) string {
	for _, dir := range []string{filepath.Dir(name), resolved(filepath.Dir(name))} {
		rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(name)))
		if err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return ".."
}

// resolved returns a directory without symlinks, as far as they can be resolved.
func resolved(dir string) string {
	if name, err := filepath.EvalSymlinks(dir); err == nil {
		return name
	}
	return dir
}

// readInput reads a file, or standard input for "-". Content above a record's size limit
// is an error.
func (c *Invocation) readInput(name string) ([]byte, error) {
	in := c.env.Stdin
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
