// Package repository finds the repository of a directory, and says where its
// parts are, how it is stored, and what of that this program does not work with.
//
// In the plain case a few files are read, those that git reads, and no process
// is started; where git has more to think about it is asked.
package repository

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/gitcmd"
)

// Info are what is known of a repository.
type Info struct {
	Dir       string // $GIT_DIR: of this worktree
	CommonDir string // $GIT_COMMON_DIR
	Index     string // the staging area's file
	ObjectDir string
	Bare      bool
	Shallow   bool
	Prefix    string // the working directory below the root, "" or "a/b/"
	Root      string // of the worktree, "" in a bare repository
	RefFormat string // files or reftable; anything else is git's alone to know
}

// ErrNone says that there is no repository.
var ErrNone = errors.New("not a git repository")

// An UnsupportedError names a feature of a repository that this program does
// not work with.
type UnsupportedError struct{ Feature string }

func (e *UnsupportedError) Error() string { return "unsupported repository: " + e.Feature }

// Find finds the repository of g's directory, and git's settings there.
// Meanwhile is told of what was guessed, which may turn out to be another one
// than what comes back. It fails with ErrNone, or with an *UnsupportedError.
func Find(ctx context.Context, g gitcmd.Git, meanwhile func(Info)) (Info, []gitcmd.ConfigEntry, error) {
	r, entries, err := find(ctx, g, meanwhile)
	if err == nil {
		err = r.extend(entries)
	}
	return r, entries, err
}

// find reads the repository and its settings in the plain case. Else one git
// process reads the settings, which name the file they come from: that confirms
// what was guessed. Else git is asked where things are, too.
func find(ctx context.Context, g gitcmd.Git, meanwhile func(Info)) (Info, []gitcmd.ConfigEntry, error) {
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

// extend takes in the extensions of the repository, and refuses those that this
// program cannot read. Extensions that git itself does not know never come this
// far.
func (r *Info) extend(config []gitcmd.ConfigEntry) error {
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
			r.RefFormat = e.Value // files://<folder> is not the folder that we know
		default:
			return &UnsupportedError{Feature: "extensions." + name}
		}
	}
	if elsewhere := os.Getenv("GIT_REFERENCE_BACKEND"); elsewhere != "" {
		r.RefFormat = elsewhere
	}
	return nil
}

// Partial reports whether a repository with these settings is a partial clone.
func Partial(config []gitcmd.ConfigEntry) bool {
	return slices.ContainsFunc(config, func(e gitcmd.ConfigEntry) bool {
		return e.Key == "extensions.partialclone" || strings.HasSuffix(e.Key, ".promisor") && gitcmd.Bool(e.Value)
	})
}

// Environ fixes the variables of a hook that name places relative to where
// git was started, so that git can be run from the root as well.
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
