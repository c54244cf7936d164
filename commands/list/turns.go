package list

import (
	"fmt"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A change has the numbers of changed files and lines since another checkpoint. A nil
// change means that they are unknown.
type change gitstore.Totals

// changesOf returns the change of each row of a list: of its newest checkpoint since the
// checkpoint of the same branch before its oldest. Rows have indexes in the list.
func changesOf(c *invoke.Invocation, l *gitstore.List, rows [][]int) []*change {
	changes := make([]*change, len(rows))
	var pairs []gitstore.Pair
	var at []int
	for k, row := range rows {
		to := &l.Checkpoints[row[0]]
		if from, known := checkpointBefore(l, to.Branch, row[len(row)-1]); known {
			pairs, at = append(pairs, gitstore.Pair{From: from, To: to}), append(at, k)
		}
	}
	for k, total := range c.Store.Totals(c.Ctx, pairs) {
		changes[at[k]] = (*change)(total)
	}
	return changes
}

// turnChanges returns the change of each picked checkpoint with --turns, otherwise nil
// changes.
func turnChanges(c *invoke.Invocation, o *listOptions, l *gitstore.List, picked []int) []*change {
	if !o.turns {
		return make([]*change, len(picked))
	}
	return changesOf(c, l, singles(picked))
}

// turnSession returns the session of a checkpoint with --turns, otherwise "".
func turnSession(c *invoke.Invocation, o *listOptions, cp *gitstore.Checkpoint) string {
	if !o.turns || cp.Trigger != checkpoint.Turn || o.remoteGiven {
		return ""
	}
	r, err := c.Store.Record(cp)
	if err != nil {
		return ""
	}
	return r.Session()
}

// checkpointBefore returns the checkpoint of a branch before an index, or nil if there is
// none: then HEAD at the save is compared. It is unknown if the list does not reach back to
// the first checkpoint.
func checkpointBefore(l *gitstore.List, branch string, index int) (from *gitstore.Checkpoint, known bool) {
	for k := index + 1; k < len(l.Checkpoints); k++ {
		if before := &l.Checkpoints[k]; before.Branch == branch {
			return before, true
		}
	}
	return nil, l.Complete
}

// singles returns a row for each checkpoint.
func singles(picked []int) [][]int {
	rows := make([][]int, len(picked))
	for k := range picked {
		rows[k] = picked[k : k+1]
	}
	return rows
}

// words returns a text such as "3 files +12 -4", or "" if nothing changed.
func (n *change) words() string {
	if n == nil || n.Files == 0 {
		return ""
	}
	return view.Plural(n.Files, "file") + " " + n.lines()
}

// lines returns a text such as "+12 -4", or "" if the numbers are unknown.
func (n *change) lines() string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("+%d -%d", n.Added, n.Deleted)
}
