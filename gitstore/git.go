package gitstore

import "git-checkpoint/gitstore/internal/git"

// Git runs the git binary.
type Git = git.Git

// A GitVersion is the version of a git binary, as {2, 54}.
type GitVersion = git.Version

// ParseGitVersion parses the output of `git version`.
func ParseGitVersion(line string) (GitVersion, error) { return git.ParseVersion(line) }

// A GitTooOldError means that a command failed because the git binary is too
// old for it.
type GitTooOldError = git.TooOldError

// A ConfigEntry is one entry of git's configuration.
type ConfigEntry = git.ConfigEntry

// LastEntry returns the last entry of key, which wins, and whether there is one.
func LastEntry(entries []ConfigEntry, key string) (ConfigEntry, bool) {
	return git.LastEntry(entries, key)
}
