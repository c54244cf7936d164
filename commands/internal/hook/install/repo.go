// Package install installs hooks for git and agents next to the files of hook managers,
// and uninstalls them byte for byte.
//
// With git 2.54 or later, hooks are entries in git's configuration. With older versions,
// hooks are marked blocks at the top of hook files in .git/hooks, core.hooksPath or
// husky's directory. A non-shell file, such as a Python script, is moved aside and called
// by a wrapper. An agent's hooks are entries in its settings file.
//
// Each install and uninstall is planned before any change. If planning fails, nothing
// changes.
package install

import (
	"context"
	"fmt"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/gitstore"
)

// A Repo is a repository for the installation of hooks.
type Repo struct {
	Context   context.Context
	Git       gitstore.Git // runs in the worktree root, or in the bare repository
	Config    []gitstore.ConfigEntry
	Root      string // worktree root, "" in a bare repository
	CommonDir string
	PrePush   string // setting hooks.pre_push
	Global    bool   // install for all repositories of this user
	Force     bool   // also replace or remove edited text

	Warn func(format string, args ...any)

	// ClearLock removes a lock file that a killed git created after since. A nil
	// ClearLock removes nothing.
	ClearLock func(path string, since time.Time)

	Kept []Copy // copies of changed files that had content

	keptConfig bool
}

// A Copy names a changed file and the copy of its former content.
type Copy struct{ File, Kept string }

// A HookChange is one step of an install or uninstall.
type HookChange struct {
	Text string // description for users
	Do   func() error
}

// A HookError reports an install or uninstall that was refused because it would cause
// damage. Hint is a suggested command, or "".
type HookError struct {
	Hint string
	Err  error
}

func (e *HookError) Error() string { return "hooks: " + e.Err.Error() }

// ExitCode returns the exit code of the error.
func (e *HookError) ExitCode() int { return exit.Refused }

// ExitHint returns the command to run next, or "".
func (e *HookError) ExitHint() string { return e.Hint }

// Unwrap returns the cause.
func (e *HookError) Unwrap() error { return e.Err }

func refuse(hint, format string, args ...any) error {
	return &HookError{hint, fmt.Errorf(format, args...)}
}

// A SettingsError reports an agent's settings file that cannot be extended.
type SettingsError struct {
	Agent, File string
	Err         error
}

func (e *SettingsError) Error() string { return fmt.Sprintf("hooks: %s: %v", e.File, e.Err) }

// ExitCode returns the exit code of the error.
func (e *SettingsError) ExitCode() int { return exit.Usage }

// ExitHint returns the command to run next, or "".
func (e *SettingsError) ExitHint() string {
	return "git checkpoint hooks install --manual --agent " + e.Agent
}

// Unwrap returns the cause.
func (e *SettingsError) Unwrap() error { return e.Err }
