package main

import (
	"context"
	"crypto/rand"
	"os"
	"path"
	"path/filepath"
)

// staged is how many files are changed, each in another leaf directory.
const staged = 10

// pick names n files in as many leaf directories, spread over the repository;
// other picks other files of them.
func (r *repo) pick(n, other int) []string {
	leaves := r.scale.files / r.scale.perLeaf
	list := make([]string, n)
	for i := range list {
		list[i] = r.files[i*leaves/n*r.scale.perLeaf+other]
	}
	return list
}

// change gives files a content that no run had before.
func (r *repo) change(names []string) error {
	for _, name := range names {
		text := "changed: " + rand.Text() + "\n" + content(len(name))
		if err := os.WriteFile(filepath.Join(r.dir, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// stage changes and stages the ten files anew, and changes as many others as
// unstaged says without staging them. The index's cached trees are then dirty
// in ten leaf directories and those above.
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

// clean puts index and worktree back to HEAD.
func (r *repo) clean(ctx context.Context) error {
	_, err := r.git(ctx, "reset", "--quiet", "--hard")
	return err
}

// changedDirs counts the directories above paths, without the root.
func changedDirs(names []string) int {
	dirs := map[string]bool{}
	for _, name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return len(dirs)
}
