// Package gitconfig reads git's configuration files without a git process, which saves a
// third of a short command's time.
//
// It reads only plain configurations and leaves other cases to git: includes, environment
// variables that change the sources, repositories of other users, and git binaries with
// an unknown system file. The same applies to files that git rejects or whose
// interpretation depends on the version. Results equal `git config --list --show-scope
// --show-origin`, in the same order. Tests compare both.
package gitconfig
