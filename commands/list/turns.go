package list

import (
	"fmt"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// foldTurns keeps the newest of consecutive turns, unless turns are listed. It returns the
// kept indexes, and the number of turns that each of them stands for besides itself.
func foldTurns(l *gitstore.List, o *listOptions, picked []int) (kept, more []int) {
	for k, i := range picked {
		turn := o.trigger == "" && l.Checkpoints[i].Trigger == checkpoint.Turn
		if turn && k > 0 && l.Checkpoints[picked[k-1]].Trigger == checkpoint.Turn {
			more[len(more)-1]++
			continue
		}
		kept, more = append(kept, i), append(more, 0)
	}
	return kept, more
}

// foldedNote adds the number of folded turns to the note of the newest one.
func foldedNote(note string, more int) string {
	if more == 0 {
		return note
	}
	folded := "and " + phrase.Plural(more, "earlier turn") + ": --turns"
	if note == "" {
		return folded
	}
	return note + " (" + folded + ")"
}

// turnChange returns the changed lines of a turn since the checkpoint of its branch before
// it, such as "+3 -1", or "" if it has none.
func turnChange(c *invoke.Invocation, l *gitstore.List, i int) string {
	turn := &l.Checkpoints[i]
	for k := i + 1; k < len(l.Checkpoints); k++ {
		before := &l.Checkpoints[k]
		if before.Branch != turn.Branch {
			continue
		}
		d, err := c.Store.Diff(before, turn)
		if err != nil {
			return ""
		}
		defer d.Close()
		lines, err := d.Lines(c.Ctx)
		if err != nil {
			return ""
		}
		added, deleted := 0, 0
		for _, n := range lines {
			added, deleted = added+n.Added, deleted+n.Deleted
		}
		return fmt.Sprintf("+%d -%d", added, deleted)
	}
	return ""
}
