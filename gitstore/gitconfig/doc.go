// Package gitconfig reads git's configuration files without a git process,
// which is a third of the time of a short command.
//
// It reads what is plain and leaves the rest to git: an include, a variable
// that changes where settings come from, a repository of somebody else's, a
// file that git would refuse or that its versions read differently, a git
// whose system file is not known. What it reads is what `git config --list
// --show-scope --show-origin` says, in the same order; tests hold it to that.
package gitconfig
