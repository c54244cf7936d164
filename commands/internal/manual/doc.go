// Package manual generates the manual from command-line declarations: man pages in man(7)
// format for groff and mandoc, and terminal text with the same content.
//
//	git-checkpoint(1)            the tool: its commands, names, exit codes, environment, files
//	git-checkpoint-COMMAND(1)    one for each command
//	git-checkpoint-settings(5)   one entry for each setting
//	git-checkpoint-GUIDE(5 or 7) the texts below guides/
//
// Source texts use a Markdown subset:
//
//	## heading, ### subheading
//	paragraph
//	- list item
//	- `term`, `term`: definition
//	    verbatim text, indented by four spaces
//
// Backquotes mark literal input.
package manual
