package web

import (
	"fmt"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// A tip is the newest checkpoint of an issue, nil if the chain is empty, or the read
// error.
type tip struct {
	issue checkpoint.Issue
	c     *gitstore.Checkpoint
	err   error
}

func (t tip) at() time.Time {
	if t.c == nil {
		return time.Time{}
	}
	return t.c.Created
}

func (v *visit) tip(i checkpoint.Issue) tip {
	l, err := v.repo.List(v.ctx, i, 1)
	if err != nil || len(l.Checkpoints) == 0 {
		return tip{issue: i, err: err}
	}
	return tip{issue: i, c: &l.Checkpoints[0]}
}

// row returns an issue's table row, even if its record is unreadable.
func (v *visit) row(t tip) IssueRow {
	row := IssueRow{Name: line(string(t.issue)), URL: v.links.issue(t.issue), issue: t.issue}
	if t.err != nil {
		row.Problem = firstLine(t.err.Error())
		return row
	}
	e := v.view("").entry(t.c, true)
	row.Tip = &e
	r, err := v.repo.VerifiedRecord(t.c)
	if err != nil {
		row.Problem = firstLine(err.Error())
		return row
	}
	row.Title = firstLine(r.Subject())
	if p := r.Progress(); p.Total > 0 {
		row.Progress = fmt.Sprintf("%d of %d", len(p.Completed), p.Total)
	}
	return row
}
