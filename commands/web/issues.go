package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// maxIssues limits issues in an exported file and archived issues on a page. The first issues
// of a page are judged, within a limit of number and time.
const (
	issuesPerPage = 100

	maxIssues  = 200
	maxJudged  = 40
	maxJudging = time.Second
	maxLength  = 500    // checkpoints of an issue that are counted
	maxCounted = 20_000 // issues whose number of checkpoints is cached
)

// issues shows a page of the issues. The query has the number of the page.
func (v *visit) issues() error {
	page := parseFilter(v.r.URL.Query()).Page
	m, newest, err := v.allIssues(page, issuesPerPage)
	if err != nil {
		return err
	}
	if page > 1 && len(m.Rows) == 0 {
		return errNoPage
	}
	if page > 1 {
		m.Newer = v.links.home() + Filter{}.query(page-1)
	}
	if m.Left > 0 {
		m.Older = v.links.home() + Filter{}.query(page+1)
	}
	if m.Newer+m.Older != "" {
		first := (page-1)*issuesPerPage + 1
		m.Shown = fmt.Sprintf("%d to %d of %d issues", first, first+len(m.Rows)-1, first+len(m.Rows)-1+m.Left)
	}
	p := v.page("Issues")
	p.Tab = "issues"
	p.Issues = m
	p.Live = v.live("", newest, "", "")
	return v.show(p)
}

// allIssues reads the newest checkpoint of each issue and the records of the issues on a page
// of the given size. It also returns the largest clock of a checkpoint.
func (v *visit) allIssues(page, size int) (*Issues, checkpoint.Clock, error) {
	tips, strange, err := v.repo.NewestOfEach(v.ctx)
	if err != nil {
		return nil, 0, err
	}
	archived, _, err := v.repo.Issues(v.ctx, true)
	if err != nil {
		return nil, 0, err
	}
	slices.SortStableFunc(tips, gitstore.CompareTips)
	m := &Issues{Strange: view.Few(strange, maxLines), File: v.links.file}
	branch, _ := v.repo.Branch(v.ctx)
	branch = gitstore.RecordedBranch(branch)
	from := min((page-1)*size, len(tips))
	shown := tips[from:min(from+size, len(tips))]
	m.Left = len(tips) - from - len(shown)
	started := time.Now()
	for k, t := range shown {
		m.Rows = append(m.Rows, v.row(t.Issue, branch, k < maxJudged && time.Since(started) < maxJudging))
	}
	live := map[checkpoint.Issue]bool{}
	for _, t := range tips {
		live[t.Issue] = true
	}
	for _, i := range archived {
		if !live[i] && len(m.Archived) < maxIssues {
			m.Archived = append(m.Archived, Link{issueLabel(i), v.links.view(i, "archive")})
		}
	}
	return m, newestTip(tips), nil
}

// row returns an issue's table row, even if its record is unreadable. branch is the current
// branch.
func (v *visit) row(i checkpoint.Issue, branch string, judged bool) IssueRow {
	row := IssueRow{Label: issueLabel(i), URL: v.links.issue(i), issue: i, Class: "none"}
	l, err := v.repo.List(v.ctx, i, 2)
	if err == nil && len(l.Checkpoints) == 0 {
		err = &gitstore.NoneError{Issue: i} // dropped meanwhile
	}
	if err != nil {
		row.Problem = firstLine(err.Error())
		return row
	}
	c, e := &l.Checkpoints[0], v.entry(place{l, 0})
	row.Tip = e
	row.Count, row.People = v.length(l)
	row.Here = !v.links.file && branch != "" && c.Branch == branch
	r, err := v.repo.VerifiedRecord(c)
	if err != nil {
		row.Problem = firstLine(err.Error())
		return row
	}
	row.Title = firstLine(cmp.Or(r.Subject(), view.ForkName(r.Fork())))
	if row.Title == e.Title {
		e.Title, e.Event = "", "" // said once
	}
	turn := r.AgentTurn()
	agents := []string{turn.Agent}
	for _, s := range turn.Spent {
		agents = append(agents, s.Agent)
	}
	agents = slices.DeleteFunc(view.Distinct(agents), func(name string) bool { return name == "" })
	row.Agents, row.Tokens = firstLine(view.List(view.Few(agents, maxPeople))), view.TokensText(checkpoint.SumOf(turn.Spent))
	row.Phase = firstLine(r.Phase())
	if p := r.Progress(); p.Total > 0 {
		row.Done = fmt.Sprintf("%d of %d", len(p.Completed), p.Total)
		row.Phases, _ = firstPhases(p, progress.Point{Phase: p.Current})
	}
	if !c.Resumable {
		row.Word, row.Class = "Cannot be resumed", "bad"
	}
	if !judged {
		return row
	}
	if j, err := v.repo.Judge(c, r); err == nil {
		shown := verdict(j, true)
		row.Word, row.Class = shown.Word, shown.Class
		row.Phases, _ = firstPhases(j.Record.Progress(), j.Verdict.At)
		row.Phase = firstLine(j.Verdict.At.Phase)
	}
	return row
}

// maxPeople limits the names in a row.
const maxPeople = 3

// length returns the number of checkpoints of an issue, up to a limit, and their authors, newest first.
func (v *visit) length(tip *gitstore.List) (text, people string) {
	if found, ok := v.lengths.get(tip.Tip.String()); ok {
		return found[0], found[1]
	}
	l, err := v.repo.List(v.ctx, tip.Issue, maxLength+1)
	if err != nil {
		return "", ""
	}
	text = strconv.Itoa(min(len(l.Checkpoints), maxLength))
	if len(l.Checkpoints) > maxLength {
		text += "+"
	}
	var authors []string
	for i := range l.Checkpoints {
		if by := l.Checkpoints[i].Author; by != "" {
			authors = append(authors, by)
		}
	}
	people = firstLine(view.List(view.Few(view.Distinct(authors), maxPeople)))
	v.lengths.put(tip.Tip.String(), [2]string{text, people}, maxCounted)
	return text, people
}

// Limits of the page with the activity of all issues.
const (
	maxActive      = 100 // checkpoints
	activePerIssue = 60  // checkpoints of one issue
	maxSearching   = 5 * time.Second
)

// An Activity is the newest checkpoints of all issues, or those that a search finds, in days.
type Activity struct {
	Timeline    Timeline
	Filter      Filter
	Left        bool   // older checkpoints are not shown
	NotSearched string // error of the search, or ""
}

// activity shows the newest checkpoints of all issues, or those that a search finds.
func (v *visit) activity() error {
	tips, _, err := v.repo.NewestOfEach(v.ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(tips, gitstore.CompareTips)
	a := v.newest(tips, v.search(parseFilter(v.r.URL.Query())))
	p := v.page("Activity")
	p.Tab = "activity"
	p.Activity = a
	if !a.Filter.Any() {
		p.Live = v.live("", newestTip(tips), "", "")
	}
	return v.show(p)
}

// newest returns the newest checkpoints that a search finds, in days. It reads whole chains only for a
// filter, and stops after maxSearching. Without a filter it folds runs of automatic checkpoints of an
// issue.
func (v *visit) newest(tips []gitstore.Tip, s *search) *Activity {
	limit, started := activePerIssue+1, time.Now()
	if s.Any() {
		limit = 0
	} else {
		tips = tips[:min(len(tips), maxActive)]
	}
	var all []place
	left := false
	for _, t := range tips {
		if left = time.Since(started) > maxSearching; left || s.err != nil {
			break
		}
		l, err := v.repo.List(v.ctx, t.Issue, limit)
		if err != nil {
			continue
		}
		found := 0
		for i := range l.Checkpoints {
			if found < activePerIssue && s.finds(&l.Checkpoints[i]) {
				all, found = append(all, place{l, i}), found+1
			}
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return b.checkpoint().Created.Compare(a.checkpoint().Created) })
	a := &Activity{Filter: s.Filter, Left: left || len(all) > maxActive}
	all = all[:min(len(all), maxActive)]
	w := v.pager("")
	w.many = true
	for from := 0; from < len(all); {
		l, day, end := all[from].list, dayOf(all[from].checkpoint().Created), from
		var kept []int
		for end < len(all) && all[end].list == l && dayOf(all[end].checkpoint().Created) == day {
			kept = append(kept, all[end].at)
			end++
		}
		groups := a.Timeline.Groups
		if n := len(groups); n == 0 || groups[n-1].Phase != day {
			groups = append(groups, Group{Phase: day})
		}
		g := &groups[len(groups)-1]
		g.Count += len(kept)
		g.Rows = append(g.Rows, w.rows(l, Filter{Page: 1}, s.runs(l, kept))...)
		a.Timeline.Groups, from = groups, end
	}
	a.Timeline.Shown = "the newest " + view.Plural(len(all), "checkpoint") + " of all issues"
	if s.Any() {
		a.Timeline.Shown = view.Plural(len(all), "checkpoint") + " of all issues found"
	}
	if s.err != nil {
		a.NotSearched = s.err.Error()
	}
	return a
}

func dayOf(t time.Time) string { return t.In(time.Local).Format("Monday, 2 January 2006") }
