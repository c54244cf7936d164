package list

import (
	"fmt"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
)

// A change has the numbers of changed files and lines since another checkpoint. A nil
// change means that they are unknown.
type change struct{ files, added, deleted int }

// changeSince returns the change of the newest of some checkpoints since the checkpoint of
// its branch before the oldest of them. The arguments are indexes in the list.
func changeSince(c *invoke.Invocation, l *gitstore.List, newest, oldest int) *change {
	to := &l.Checkpoints[newest]
	for k := oldest + 1; k < len(l.Checkpoints); k++ {
		if before := &l.Checkpoints[k]; before.Branch == to.Branch {
			return changeBetween(c, before, to)
		}
	}
	if !l.Complete {
		return nil
	}
	return changeBetween(c, nil, to)
}

// changeBetween counts the changes between two checkpoints. If from is nil, it counts the
// changes since HEAD at the time of the save.
func changeBetween(c *invoke.Invocation, from, to *gitstore.Checkpoint) *change {
	d, err := c.Store.Diff(from, to)
	if err != nil {
		return nil
	}
	defer d.Close()
	total, err := d.Totals(c.Ctx)
	if err != nil {
		return nil
	}
	return &change{total.Files, total.Added, total.Deleted}
}

// words returns a text such as "3 files +12 -4", or "" if nothing changed.
func (n *change) words() string {
	if n == nil || n.files == 0 {
		return ""
	}
	return phrase.Plural(n.files, "file") + " " + n.lines()
}

// lines returns a text such as "+12 -4", or "" if the numbers are unknown.
func (n *change) lines() string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("+%d -%d", n.added, n.deleted)
}
