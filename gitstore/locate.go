package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/gitconfig"
)

// locate finds the repository and its settings. In the plain case both are
// read here, else one git process reads the settings, which name the file they
// come from: that confirms what was guessed, and to what meanwhile may already
// look. Else git is asked where things are, too.
func locate(ctx context.Context, g gitcmd.Git, meanwhile func(repository)) (repository, []gitcmd.Entry, error) {
	guessed, ok := guess(g.Dir)
	if ok {
		meanwhile(guessed)
		entries, err := settings(ctx, g, guessed)
		if err == nil && guessed.confirmed(entries) {
			return guessed, entries, nil
		}
	}
	type found struct {
		repo repository
		err  error
	}
	asked := make(chan found, 1)
	go func() {
		repo, err := discover(ctx, g)
		asked <- found{repo, err}
	}()
	entries, err := g.Config(ctx)
	f := <-asked
	if f.err != nil {
		return repository{}, nil, f.err
	}
	return f.repo, entries, err
}

// settings reads git's settings in a repository that was guessed.
func settings(ctx context.Context, g gitcmd.Git, r repository) ([]gitcmd.Entry, error) {
	path, err := gitcmd.Path()
	if err == nil && len(g.Env) == 0 {
		place := gitconfig.Place{
			Start: filepath.Join(r.root, r.prefix), Root: r.root, GitDir: r.dir, CommonDir: r.commonDir,
		}
		if entries, plain := gitconfig.Read(place, path); plain {
			return entries, nil
		}
	}
	return g.Config(ctx)
}

// speaking are the variables that tell git where things are.
var speaking = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_SHALLOW_FILE",
	"GIT_NAMESPACE",
}

// guess finds the repository as git does where no variable speaks of it: at
// or above the working directory something is called .git. It gives up where
// git has more to think about.
func guess(dir string) (repository, bool) {
	if slices.ContainsFunc(speaking, isSet) {
		return repository{}, false
	}
	start, err := physical(dir)
	if err != nil {
		return repository{}, false
	}
	for at := start; ; at = filepath.Dir(at) {
		if exists(filepath.Join(at, ".git")) {
			gitDir, ok := gitDirAt(at)
			if !ok {
				return repository{}, false // git refuses it, or looks further up
			}
			return guessAt(at, gitDir, start)
		}
		if exists(filepath.Join(at, "HEAD")) || at == filepath.Dir(at) {
			return repository{}, false
		}
	}
}

// physical is a directory without symlinks: git answers relative to that.
func physical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// gitDirAt is what .git in a directory stands for.
func gitDirAt(root string) (string, bool) {
	path := filepath.Join(root, ".git")
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return path, true
	}
	return readPath(path, "gitdir: ", root)
}

// readPath reads a file that holds a path, relative to base, and follows it as
// git does: what ".." is after a symlink the file system knows.
func readPath(file, prefix, base string) (string, bool) {
	data, err := gitconfig.ReadFile(file)
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if err != nil || !ok || path == "" {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = base + string(filepath.Separator) + path
	}
	path, err = filepath.EvalSymlinks(path)
	return path, err == nil
}

func guessAt(root, gitDir, start string) (repository, bool) {
	r := repository{dir: gitDir, commonDir: gitDir, root: root}
	if file := filepath.Join(gitDir, "commondir"); exists(file) {
		common, ok := readPath(file, "", gitDir)
		if !ok {
			return repository{}, false
		}
		r.commonDir = common
	}
	r.index, r.objectDir = filepath.Join(r.dir, "index"), filepath.Join(r.commonDir, "objects")
	r.shallow = exists(filepath.Join(r.commonDir, "shallow"))
	if below, err := filepath.Rel(root, start); err == nil && below != "." {
		r.prefix = filepath.ToSlash(below) + "/"
	}
	return r, exists(r.objectDir)
}

// isSet reports whether a variable is there. Git minds also an empty one.
func isSet(name string) bool {
	_, set := os.LookupEnv(name)
	return set
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// confirmed reports whether git found the same repository: it read the
// repository's own settings from the same file, which it does not where it
// does not trust the repository, and nothing there moves the worktree.
func (r repository) confirmed(entries []gitcmd.Entry) bool {
	own, err := os.Stat(filepath.Join(r.commonDir, "config"))
	if err != nil {
		return false
	}
	if bare, _ := gitcmd.Last(entries, "core.bare"); gitcmd.Bool(bare) {
		return false
	}
	if _, moved := gitcmd.Last(entries, "core.worktree"); moved {
		return false
	}
	return slices.ContainsFunc(entries, func(e gitcmd.Entry) bool {
		path, file := strings.CutPrefix(e.Origin, "file:")
		if e.Scope != "local" || !file {
			return false
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.root, path)
		}
		info, err := os.Stat(path)
		return err == nil && os.SameFile(own, info)
	})
}

// discover asks git where things are. The worktree's root comes last, since
// git stops there in a bare repository.
func discover(ctx context.Context, g gitcmd.Git) (repository, error) {
	out, err := g.Output(ctx, "rev-parse", "--git-dir", "--git-common-dir", "--git-path", "index",
		"--git-path", "objects", "--is-bare-repository", "--is-shallow-repository", "--show-prefix", "--show-toplevel")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) < 6 {
		return repository{}, fmt.Errorf("%w: %w", ErrNotRepository, cause(err))
	}
	if len(lines) > 8 {
		return repository{}, &UnsupportedError{Feature: "a line break in the repository's path"}
	}
	base, pathErr := physical(g.Dir)
	if pathErr != nil {
		return repository{}, fmt.Errorf("find the working directory: %w", pathErr)
	}
	abs := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(base, path)
	}
	r := repository{
		dir: abs(lines[0]), commonDir: abs(lines[1]), index: abs(lines[2]), objectDir: abs(lines[3]),
		bare: lines[4] == "true", shallow: lines[5] == "true",
	}
	if len(lines) == 8 && err == nil {
		r.prefix, r.root = lines[6], abs(lines[7])
	}
	return r, nil
}

// environ fixes the variables of a hook that name places relative to where
// git was started, so that git can be run from the root as well.
func (r repository) environ() []string {
	var env []string
	for _, v := range []struct{ name, value string }{
		{"GIT_DIR", r.dir},
		{"GIT_COMMON_DIR", r.commonDir},
		{"GIT_WORK_TREE", r.root},
		{"GIT_INDEX_FILE", r.index},
		{"GIT_OBJECT_DIRECTORY", r.objectDir},
	} {
		if set := os.Getenv(v.name); set != "" && !filepath.IsAbs(set) && v.value != "" {
			env = append(env, v.name+"="+v.value)
		}
	}
	return env
}

func cause(err error) error {
	if err == nil {
		return errors.New("git answered nothing")
	}
	return err
}
