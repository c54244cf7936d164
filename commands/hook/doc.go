// Package hook knows the protocols of git's hooks and the files in which they
// are installed. Everything here is pure: text in, text out.
//
// In a hook file that a shell runs, this program is a block of lines between
// two marks, below the interpreter's line:
//
//	#!/bin/sh
//	# >>> git-checkpoint pre-push >>>
//	...
//	# <<< git-checkpoint pre-push <<<
//	what stood there before
//
// The block runs what stands below it first, as a process of its own: that
// may exit, exec or refuse as it likes. Taking the block out again leaves the
// file byte for byte as it was. "file" in the first mark says that the file
// was made for the block and goes with it.
//
// A file that no shell runs, or that is a symlink, is moved to the folder
// Aside, and the file in its place calls it.
package hook
