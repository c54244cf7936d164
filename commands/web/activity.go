package web

import (
	"slices"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
)

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
	a := v.newest(tips, v.search(parseFilter(v.r.URL.Query()), false))
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
