package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
)

// pick returns n files in different leaf directories, distributed over the repository.
func (r *repo) pick(n int) []string {
	leaves := r.scale.files / r.scale.perLeaf
	list := make([]string, n)
	for i := range list {
		list[i] = r.files[i*leaves/n*r.scale.perLeaf]
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

// clean resets index and worktree to HEAD.
func (r *repo) clean(ctx context.Context) error {
	_, err := r.git(ctx, "reset", "--quiet", "--hard")
	return err
}

// rest prepares only a synced disk.
func (r *repo) rest(context.Context) error { return nil }
