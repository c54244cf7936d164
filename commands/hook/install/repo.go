// Package install puts hooks where git and agents look for them, beside what
// hook managers have there, and takes them out again byte for byte.
//
// From git 2.54 on they go into git's configuration. Before that they are a
// marked block at the top of a hook file: of .git/hooks, of core.hooksPath, or
// of husky's folder. A file that lines cannot be put into, such as a Python
// script, is moved aside and called. An agent's hooks are entries of its
// settings file.
//
// Every install and uninstall is planned first: a plan that cannot be made
// changes nothing.
package install

import (
	"context"
	"fmt"
	"time"

	"git-checkpoint/gitstore/gitcmd"
)

// A Repo is a repository that hooks are installed in.
type Repo struct {
	Context   context.Context
	Git       gitcmd.Git // runs at the root of the worktree, or in the bare repository
	Config    []gitcmd.ConfigEntry
	Root      string // of the worktree, "" in a bare repository
	CommonDir string
	PrePush   string // hooks.pre_push
	Global    bool   // for all repositories of this user
	Force     bool   // also replace or take out what was edited

	Warn func(format string, args ...any)

	// ClearLock removes a lock that a git has left which was killed after a time.
	// nil removes none.
	ClearLock func(path string, since time.Time)

	Kept []Copy // what changed files were before, as far as they had content

	keptConfig bool
}

// A Copy is a file that was changed, and where its former content is.
type Copy struct{ File, Kept string }

// A HookChange is one thing that an install or uninstall does.
type HookChange struct {
	Text string // what, for people
	Do   func() error
}

// A HookError is an install that would hurt something. Hint is the command
// that is the way on, "" for none.
type HookError struct {
	Hint string
	Err  error
}

func (e *HookError) Error() string { return "hooks: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *HookError) Unwrap() error { return e.Err }

func refuse(hint, format string, args ...any) error {
	return &HookError{hint, fmt.Errorf(format, args...)}
}

// A SettingsError is an agent's settings file that cannot be added to.
type SettingsError struct {
	Agent, File string
	Err         error
}

func (e *SettingsError) Error() string { return fmt.Sprintf("hooks: %s: %v", e.File, e.Err) }

// Unwrap returns what is wrong with the file.
func (e *SettingsError) Unwrap() error { return e.Err }
