// Package repository finds the repository of a directory. It returns the paths of its
// parts and its formats, and rejects unsupported features.
//
// In the simple case, it reads the same few files as git without starting a process. In
// other cases it runs git.
package repository

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/git"
)

// Info describes a repository.
type Info struct {
	Dir       string // $GIT_DIR of this worktree
	CommonDir string // $GIT_COMMON_DIR
	Index     string // path of the index file
	ObjectDir string
	Bare      bool
	Shallow   bool
	Prefix    string // working directory relative to the root, "" or "a/b/"
	Root      string // root of the worktree, "" in a bare repository
	RefFormat string // files or reftable; all other values need git
}

// ErrNone reports that the directory is not in a repository.
var ErrNone = errors.New("not a git repository")

// An UnsupportedError reports a repository feature that this program does not support.
type UnsupportedError struct{ Feature string }

func (e *UnsupportedError) Error() string { return "unsupported repository: " + e.Feature }

// Find returns the repository of g's directory and git's settings. It calls meanwhile
// with the discovered repository before it has confirmed it; the result may be a
// different repository. Find fails with ErrNone or *UnsupportedError.
func Find(ctx context.Context, g git.Git, meanwhile func(Info)) (Info, []git.ConfigEntry, error) {
	r, entries, err := find(ctx, g, meanwhile)
	if err == nil {
		err = r.extend(entries)
	}
	return r, entries, err
}

// find reads repository and settings from files in the simple case. Otherwise a git
// process reads the settings; their origin confirms the discovered repository. If it is
// not confirmed, git determines the paths too.
func find(ctx context.Context, g git.Git, meanwhile func(Info)) (Info, []git.ConfigEntry, error) {
	guessed, passed, ok := guess(g.Dir)
	if ok {
		meanwhile(guessed)
		entries, err := settings(ctx, g, guessed, passed)
		if err == nil && guessed.confirmed(entries) {
			return guessed, entries, nil
		}
	}
	type found struct {
		repo Info
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
		return Info{}, nil, f.err
	}
	return f.repo, entries, err
}

// extend applies the repository's extensions and rejects extensions that this program
// does not support. Git itself has already rejected unknown extensions.
func (r *Info) extend(config []git.ConfigEntry) error {
	for _, e := range config {
		name, found := strings.CutPrefix(e.Key, "extensions.")
		if !found || e.Scope != "local" && e.Scope != "worktree" {
			continue
		}
		switch name {
		case "noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees":
		case "objectformat":
			if strings.ToLower(e.Value) != "sha1" {
				return &UnsupportedError{Feature: strings.ToUpper(strings.Replace(e.Value, "sha", "sha-", 1)) + " objects"}
			}
		case "refstorage":
			r.RefFormat = e.Value // files://<folder> differs from the known directory
		default:
			return &UnsupportedError{Feature: "extensions." + name}
		}
	}
	if elsewhere := os.Getenv("GIT_REFERENCE_BACKEND"); elsewhere != "" {
		r.RefFormat = elsewhere
	}
	return nil
}

// Partial reports whether these settings belong to a partial clone.
func Partial(config []git.ConfigEntry) bool {
	return slices.ContainsFunc(config, func(e git.ConfigEntry) bool {
		return e.Key == "extensions.partialclone" || strings.HasSuffix(e.Key, ".promisor") && git.Bool(e.Value)
	})
}

// Environ returns absolute values for environment variables with relative paths, such as
// those of a hook. With them, git can run in the root directory too.
func (r Info) Environ() []string {
	var env []string
	for _, v := range []struct{ name, value string }{
		{"GIT_DIR", r.Dir},
		{"GIT_COMMON_DIR", r.CommonDir},
		{"GIT_WORK_TREE", r.Root},
		{"GIT_INDEX_FILE", r.Index},
		{"GIT_OBJECT_DIRECTORY", r.ObjectDir},
	} {
		if set := os.Getenv(v.name); set != "" && !filepath.IsAbs(set) && v.value != "" {
			env = append(env, v.name+"="+v.value)
		}
	}
	return env
}
