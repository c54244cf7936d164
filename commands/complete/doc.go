// Package complete finds what may come next in a command line, from what the
// commands declare, and holds what bash, zsh and fish need to ask for it.
//
// A shell runs
//
//	git checkpoint completion words -- WORD...
//
// with the words after "git checkpoint", the one at the cursor last, and gets
// lines: the first is "words", or "files" or "dirs" where the shell should
// offer these beside; then one for each word that begins with what was typed:
// the word, a tab, what it is. No word has a control character in it, so a
// line is a line, and the shell quotes what its user's hands did not type.
package complete
