package web

import (
	"net/http"
	"slices"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
)

// Limits of the page with the activity of all issues.
const (
	maxActive      = 100 // checkpoints
	activePerIssue = 60  // checkpoints of one issue
)

// An Activity is the newest checkpoints of all issues, in days.
type Activity struct {
	Timeline Timeline
	Left     bool // older checkpoints are not shown
}

// activity shows the newest checkpoints of all issues.
func (v *visit) activity() error {
	tips, _, err := v.repo.NewestOfEach(v.ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(tips, gitstore.CompareTips)
	var lists []*gitstore.List
	for _, t := range tips[:min(len(tips), maxActive)] {
		if l, err := v.repo.List(v.ctx, t.Issue, activePerIssue+1); err == nil {
			lists = append(lists, l)
		}
	}
	p := v.page("Activity")
	p.Tab = "activity"
	p.Activity = v.activityOf(lists)
	p.Live = v.live("", newestClock(lists), "")
	v.write(http.StatusOK, p)
	return nil
}

// A moment is a checkpoint in a list.
type moment struct {
	list *gitstore.List
	at   int
}

func (m moment) checkpoint() *gitstore.Checkpoint { return &m.list.Checkpoints[m.at] }

// activityOf merges lists by time, and folds runs of automatic checkpoints of an issue.
func (v *visit) activityOf(lists []*gitstore.List) *Activity {
	var all []moment
	for _, l := range lists {
		for i := range l.Checkpoints[:min(len(l.Checkpoints), activePerIssue)] {
			all = append(all, moment{l, i})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return b.checkpoint().Created.Compare(a.checkpoint().Created) })
	a := &Activity{Left: len(all) > maxActive}
	all = all[:min(len(all), maxActive)]
	for from := 0; from < len(all); {
		day, end := dayOf(all[from].checkpoint().Created), from
		for end < len(all) && dayOf(all[end].checkpoint().Created) == day {
			end++
		}
		a.Timeline.Groups = append(a.Timeline.Groups, v.day(day, all[from:end]))
		from = end
	}
	a.Timeline.Shown = "the newest " + count(len(all), "checkpoint") + " of all issues"
	return a
}

// day returns the group of a day.
func (v *visit) day(day string, all []moment) Group {
	g := Group{Phase: day, Count: len(all)}
	for from := 0; from < len(all); {
		end := from
		for end < len(all) && all[end].list == all[from].list {
			end++
		}
		var kept []int
		for _, m := range all[from:end] {
			kept = append(kept, m.at)
		}
		g.Rows = append(g.Rows, v.rowsOfIssue(all[from].list, kept)...)
		from = end
	}
	return g
}

func (v *visit) rowsOfIssue(l *gitstore.List, kept []int) []TimelineRow {
	w := v.pager("")
	runs := view.Runs(l.Checkpoints, kept)
	rows := w.rows(l, Filter{Page: 1}, runs)
	for i := range rows {
		row := &rows[i]
		name(&row.Entry, l, v.links)
		if row.Run != nil {
			row.Run.Issue = issueLabel(l.Issue)
			for k := range row.Run.Entries {
				name(&row.Run.Entries[k], l, v.links)
			}
		}
	}
	return rows
}

func name(e *TimelineEntry, l *gitstore.List, to links) {
	e.Issue, e.IssueURL, e.Elsewhere = issueLabel(l.Issue), to.issue(l.Issue), ""
}

func dayOf(t time.Time) string { return t.In(time.Local).Format("Monday, 2 January 2006") }
