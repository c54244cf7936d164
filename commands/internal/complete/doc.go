// Package complete computes shell completions from command declarations, and holds
// completion scripts for bash, zsh and fish.
//
// A shell runs
//
//	git checkpoint completion words -- WORD...
//
// with the words after "git checkpoint"; the last word is at the cursor. The first output
// line is "words", "files" or "dirs"; the shell adds file or directory names for the last
// two. Each following line is one completion of the typed text: the word, a tab, its
// description. Words contain no control characters, so that lines can be split at
// newlines. The shell quotes inserted words.
package complete
