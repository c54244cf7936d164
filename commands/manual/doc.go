// Package manual makes the manual of what the command line declares: man pages
// (man(7), as groff and mandoc read it) and the same texts for a terminal.
//
//	git-checkpoint(1)            the tool: its commands, names, exit codes, environment, files
//	git-checkpoint-COMMAND(1)    one for each command
//	git-checkpoint-settings(5)   one entry for each setting
//	git-checkpoint-GUIDE(5 or 7) the texts below guides/
//
// The texts are Markdown of a few forms: a heading (##, ###), a paragraph, a
// list (-), a definition (an item that begins with words in backquotes and a
// colon), and text indented by four spaces, which stays as it is. Words in
// backquotes are what is typed.
package manual
