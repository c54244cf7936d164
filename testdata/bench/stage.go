package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"
)

// staged is the number of changed files, each in another leaf directory.
const staged = 10

// pick returns n files in different leaf directories, distributed over the repository;
// other selects other files of the same directories.
func (r *repo) pick(n, other int) []string {
	leaves := r.scale.files / r.scale.perLeaf
	list := make([]string, n)
	for i := range list {
		list[i] = r.files[i*leaves/n*r.scale.perLeaf+other]
	}
	return list
}

// change writes new random content to files.
func (r *repo) change(names []string) error {
	for _, name := range names {
		text := "changed: " + rand.Text() + "\n" + content(len(name))
		if err := os.WriteFile(filepath.Join(r.dir, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// stage changes and stages ten files, and changes the given number of other files without
// staging. This invalidates the index's cached trees of ten leaf directories and their
// parents.
func (r *repo) stage(ctx context.Context, unstaged int) error {
	names := r.pick(staged, 0)
	if err := r.change(names); err != nil {
		return err
	}
	if _, err := r.git(ctx, append([]string{"add", "--"}, names...)...); err != nil {
		return err
	}
	return r.change(r.pick(unstaged, 1))
}

// untracked is the number of files that addUntracked writes.
const untracked = 5_000

// addUntracked writes untracked files, a hundred in each directory.
func (r *repo) addUntracked() error {
	for i := range untracked {
		file := filepath.Join(r.dir, "out", fmt.Sprintf("part%02d", i/100), fmt.Sprintf("file%02d.txt", i%100))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				return err
			}
		}
		if err := os.WriteFile(file, []byte("untracked "+content(i)), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// touch gives all tracked files a new time, as a copy or a restored cache does.
func (r *repo) touch() error {
	now := time.Now().Add(-time.Hour)
	for _, name := range r.files {
		if err := os.Chtimes(filepath.Join(r.dir, filepath.FromSlash(name)), now, now); err != nil {
			return err
		}
	}
	time.Sleep(time.Second) // a file that changes now may change again without another time
	return nil
}

// clean resets index and worktree to HEAD.
func (r *repo) clean(ctx context.Context) error {
	_, err := r.git(ctx, "reset", "--quiet", "--hard")
	return err
}

// changedDirs returns the number of parent directories of paths, without the root.
func changedDirs(names []string) int {
	dirs := map[string]bool{}
	for _, name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return len(dirs)
}
