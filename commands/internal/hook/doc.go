// Package hook implements the protocols of git's hooks and the format of hook files and
// agents' settings. All functions are pure transformations of text.
//
// In a hook file that a shell runs, this program adds a block between two marks, below
// the interpreter line:
//
//	#!/bin/sh
//	# >>> git-checkpoint pre-push >>>
//	...
//	# <<< git-checkpoint pre-push <<<
//	original content
//
// The block first runs the original content in a separate process, which may exit, exec
// or fail. Removal of the block restores the original file byte for byte. The word "file"
// in the first mark means that the file was created for the block and is removed with it.
//
// A non-shell file or a symlink is moved to the directory Aside, and a wrapper in its
// place calls it.
package hook
