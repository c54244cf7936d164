package web

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// maxIssues limits issues on the first page; maxTips limits tips that are read to find
// the newest issues.
const (
	maxIssues = 200
	maxTips   = 2000
)

// issues shows the first page.
func (v *visit) issues() error {
	m, err := v.allIssues()
	if err != nil {
		return err
	}
	p := v.page("Checkpoints")
	p.Issues = m
	v.write(http.StatusOK, p)
	return nil
}

// allIssues reads the newest checkpoint of each issue and the records of shown issues.
func (v *visit) allIssues() (*Issues, error) {
	live, strange, err := v.repo.Issues(v.ctx, false)
	if err != nil {
		return nil, err
	}
	archived, _, err := v.repo.Issues(v.ctx, true)
	if err != nil {
		return nil, err
	}
	m := &Issues{Strange: lines(strange)}
	var tips []tip
	for _, i := range live[:min(len(live), maxTips)] {
		tips = append(tips, v.tip(i))
	}
	slices.SortStableFunc(tips, func(a, b tip) int { return b.at().Compare(a.at()) })
	hidden := map[checkpoint.Issue]bool{}
	for _, t := range tips {
		if t.err == nil && t.c == nil {
			continue // empty chain: remaining checkpoints are archived
		}
		hidden[t.issue] = true
		if len(m.Rows) < maxIssues {
			m.Rows = append(m.Rows, v.row(t))
		}
	}
	m.Left = max(0, len(hidden)-len(m.Rows)) + max(0, len(live)-maxTips)
	for _, i := range archived {
		if !hidden[i] && len(m.Archived) < maxIssues {
			m.Archived = append(m.Archived, IssueRow{Name: line(string(i)), URL: v.links.archive(i)})
		}
	}
	return m, nil
}

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
