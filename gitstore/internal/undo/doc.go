// Package undo restores the files of a checkpoint so that the restore can be undone: with a
// safety snapshot before it, and a journal from which a restore that was killed is
// continued or aborted. Package restore decides and writes the files.
package undo

import "git-checkpoint/gitstore/internal/facts"

// Restorer restores checkpoints and undoes restores and saves.
type Restorer struct {
	*facts.Facts
}
