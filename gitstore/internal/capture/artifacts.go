package capture

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/trees"
)

// artifacts adds named files, including ignored files, and readable files of kept.
func (c *capture) artifacts(names, kept []string) error {
	if len(names)+len(kept) == 0 {
		return nil
	}
	root, err := os.OpenRoot(c.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	var wanted []candidate
	known := map[string]bool{}
	for _, name := range names {
		clean, err := checkArtifact(root, name)
		if err != nil {
			return fmt.Errorf("artifact %q: %w", name, err)
		}
		if !known[clean] {
			wanted = append(wanted, candidate{path: clean, maxSize: noLimit, must: true})
		}
		known[clean] = true
	}
	for _, name := range kept {
		if clean, err := checkArtifact(root, name); err == nil && !known[clean] {
			wanted, known[clean] = append(wanted, candidate{path: clean, maxSize: noLimit}), true
		}
	}
	files, err := c.take(wanted)
	if err != nil {
		return err
	}
	c.add("artifacts", files)
	return nil
}

// checkArtifact returns the clean path of an artifact below the root. It returns an error
// if a restore could not write a file to that path.
func checkArtifact(root *os.Root, name string) (string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if path.IsAbs(clean) || filepath.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", errors.New("outside the worktree")
	}
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(filepath.FromSlash(dir)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return "", fmt.Errorf("%q is a symlink", dir)
		}
	}
	info, err := root.Lstat(filepath.FromSlash(clean))
	if err != nil {
		return "", errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	return clean, trees.CheckPath(clean, trees.ModeFile)
}
