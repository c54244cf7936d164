package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// maxIssues limits issues on the first page; maxTips limits tips that are read to find
// the newest issues. The first issues are judged, within a limit of number and time.
const (
	maxIssues  = 200
	maxTips    = 2000
	maxJudged  = 40
	maxJudging = time.Second
	maxLength  = 500 // checkpoints of an issue that are counted
)

// issues shows the first page.
func (v *visit) issues() error {
	m, newest, err := v.allIssues()
	if err != nil {
		return err
	}
	p := v.page("Issues")
	p.Tab = "issues"
	p.Issues = m
	p.Live = v.live("", newest, "")
	v.write(http.StatusOK, p)
	return nil
}

// allIssues reads the newest checkpoint of each issue and the records of shown issues. It
// also returns the largest clock of a checkpoint.
func (v *visit) allIssues() (*Issues, checkpoint.Clock, error) {
	live, strange, err := v.repo.Issues(v.ctx, false)
	if err != nil {
		return nil, 0, err
	}
	archived, _, err := v.repo.Issues(v.ctx, true)
	if err != nil {
		return nil, 0, err
	}
	m := &Issues{Strange: lines(strange)}
	var newest checkpoint.Clock
	branch, _ := v.repo.Branch(v.ctx)
	branch = gitstore.RecordedBranch(branch)
	hidden := map[checkpoint.Issue]bool{}
	started := time.Now()
	for _, t := range v.newestTips(live) {
		if t.err == nil && t.c == nil {
			continue // empty chain: remaining checkpoints are archived
		}
		hidden[t.issue] = true
		if len(m.Rows) < maxIssues {
			judged := len(m.Rows) < maxJudged && time.Since(started) < maxJudging
			m.Rows = append(m.Rows, v.row(t, branch, judged))
		}
		if t.c != nil {
			newest = max(newest, t.c.Clock)
		}
	}
	m.Left = max(0, len(hidden)-len(m.Rows)) + max(0, len(live)-maxTips)
	for _, i := range archived {
		if !hidden[i] && len(m.Archived) < maxIssues {
			m.Archived = append(m.Archived, Link{issueLabel(i), v.links.archive(i)})
		}
	}
	return m, newest, nil
}

// newestTips returns the newest checkpoints of issues, newest first.
func (v *visit) newestTips(issues []checkpoint.Issue) []tip {
	var tips []tip
	for _, i := range issues[:min(len(issues), maxTips)] {
		tips = append(tips, v.tip(i))
	}
	slices.SortStableFunc(tips, func(a, b tip) int { return b.at().Compare(a.at()) })
	return tips
}

// A tip is the newest checkpoint of an issue, nil if the chain is empty, or the read
// error.
type tip struct {
	issue checkpoint.Issue
	list  *gitstore.List
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
	l, err := v.repo.List(v.ctx, i, 2)
	if err != nil || len(l.Checkpoints) == 0 {
		return tip{issue: i, err: err}
	}
	return tip{issue: i, list: l, c: &l.Checkpoints[0]}
}

// row returns an issue's table row, even if its record is unreadable. branch is the current
// branch.
func (v *visit) row(t tip, branch string, judged bool) IssueRow {
	row := IssueRow{Label: issueLabel(t.issue), URL: v.links.issue(t.issue), issue: t.issue, Class: "none"}
	if t.err != nil {
		row.Problem = firstLine(t.err.Error())
		return row
	}
	e := v.entry(place{t.list, 0})
	row.Tip, row.Count = &e, v.lengths.of(v, t)
	row.Here = !v.links.file && branch != "" && t.c.Branch == branch
	r, err := v.repo.VerifiedRecord(t.c)
	if err != nil {
		row.Problem = firstLine(err.Error())
		return row
	}
	row.Title = firstLine(r.Subject())
	row.progress(r)
	if !t.c.Resumable {
		row.Word, row.Class = "Cannot be resumed", "bad"
	}
	if !judged {
		return row
	}
	if j, err := v.repo.Judge(t.c, r); err == nil {
		shown := verdict(j, true)
		row.Word, row.Class = shown.Word, shown.Class
		row.Phases, _ = phaseStates(j.Record.Progress(), j.Verdict.At.Phase)
		row.Phase = line(cut(j.Verdict.At.Phase, maxLine))
	}
	return row
}

// progress fills in the progress that a record has.
func (row *IssueRow) progress(r *checkpoint.Record) {
	p := r.Progress()
	row.Phase = firstLine(r.Phase())
	if p.Total > 0 {
		row.Done = fmt.Sprintf("%d of %d", len(p.Completed), p.Total)
		row.Phases, _ = phaseStates(p, p.Current)
	}
}

// lengths caches the numbers of checkpoints by tip of the chain.
type lengths struct {
	mu   sync.Mutex
	kept map[string]string
}

// of returns the number of checkpoints of an issue, up to a limit.
func (n *lengths) of(v *visit, t tip) string {
	n.mu.Lock()
	text, ok := n.kept[t.list.Tip.String()]
	n.mu.Unlock()
	if ok {
		return text
	}
	l, err := v.repo.List(v.ctx, t.issue, maxLength+1)
	if err != nil {
		return ""
	}
	text = strconv.Itoa(min(len(l.Checkpoints), maxLength))
	if len(l.Checkpoints) > maxLength {
		text += "+"
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kept == nil || len(n.kept) > maxCounted {
		n.kept = map[string]string{}
	}
	n.kept[t.list.Tip.String()] = text
	return text
}
