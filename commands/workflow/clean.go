package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
)

// clean removes incomplete outputs with --clean. A file that is complete by now, tracked
// or not regular stays.
func (t *taskStep) clean() error {
	if !t.c.Flags.Bool("clean") || len(t.broken) == 0 {
		return nil
	}
	root, err := os.OpenRoot(t.c.Store.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	for _, place := range t.broken {
		name := filepath.FromSlash(place)
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || !judge.TaskOutput(t.c, place).Broken {
			continue
		}
		if err := cmp.Or(ownFolder(root, place), t.mayGo(place)); err != nil {
			t.c.Warnf("%s is left as it is: %v", phrase.QuotePath(place), err)
			continue
		}
		if err := root.Remove(name); err != nil {
			return fmt.Errorf("task recover --clean: %s: %w", phrase.QuotePath(place), err)
		}
		t.c.Infof("removed %s", phrase.QuotePath(place))
	}
	return nil
}

// mayGo returns an error if a task cannot have written the file. An untrusted record may
// name a file of git or of the project as an output.
func (t *taskStep) mayGo(place string) error {
	if err := gitstore.CheckPlace(path.Clean(place)); err != nil {
		return err
	}
	tracked, err := t.c.Store.IsTracked(t.c.Ctx, place)
	if tracked {
		return errors.New("git tracks it")
	}
	return err
}

// ownFolder returns an error if the path contains a symlink, because git then knows the
// file under another name. A path in a nested repository is an error too.
func ownFolder(root *os.Root, place string) error {
	for k, r := range place {
		if r != '/' {
			continue
		}
		dir := filepath.FromSlash(place[:k])
		info, err := root.Lstat(dir)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is a symlink", phrase.QuotePath(place[:k]))
		}
		if _, err := root.Lstat(filepath.Join(dir, ".git")); err == nil && filepath.Clean(dir) != "." {
			return fmt.Errorf("%s is a repository of its own", phrase.QuotePath(place[:k]))
		}
	}
	return nil
}
