package gitstore

import "git-checkpoint/gitstore/gitcmd"

// Git runs the git binary.
type Git = gitcmd.Git

// A GitVersion is the version of a git binary, as {2, 54}.
type GitVersion = gitcmd.Version

// ParseGitVersion parses the output of `git version`.
func ParseGitVersion(line string) (GitVersion, error) { return gitcmd.ParseVersion(line) }

// A GitTooOldError means that a command failed because the git binary is too
// old for it.
type GitTooOldError = gitcmd.TooOldError

// A ConfigEntry is one entry of git's configuration.
type ConfigEntry = gitcmd.ConfigEntry

// LastEntry returns the last entry of key, which wins, and whether there is one.
func LastEntry(entries []ConfigEntry, key string) (ConfigEntry, bool) {
	return gitcmd.LastEntry(entries, key)
}
