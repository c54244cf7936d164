package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// rowsAround is the number of rows before and after the selected turn.
const rowsAround = 30

// A TurnsPage shows the turns of an issue, and the changes of one of them beside the list. If the
// issue has no turn, it shows all checkpoints.
type TurnsPage struct {
	Label, Title string
	Views        []Side
	Noun         string // turn or checkpoint
	Count        int
	Rows         []TurnRow // newest first, around the selected turn
	Pane         *TurnPane
}

// A TurnRow is a turn in the list.
type TurnRow struct {
	TimelineEntry
	N        int // position, from 1 for the oldest
	Selected bool
}

// A TurnPane shows the selected turn.
type TurnPane struct {
	*CheckpointPage
	N, Count      int
	Page          string // URL of the checkpoint's page
	Before, After string // URLs of the neighbouring turns, or ""
}

// turns shows the turns of an issue. The query has the name of a checkpoint in at, or a position in
// n. With part, it is only the pane of the selected turn.
func (v *visit) turnsPage() error {
	i, err := v.issue()
	if err != nil {
		return err
	}
	l, err := v.chain(i, false, 0)
	if err != nil {
		return err
	}
	if len(l.Checkpoints) == 0 {
		return &gitstore.NoneError{Issue: i}
	}
	m := &TurnsPage{Label: issueLabel(i), Views: v.views(i, "Turns"), Noun: "turn"}
	var picked []int
	for i := range l.Checkpoints {
		if l.Checkpoints[i].Trigger == checkpoint.Turn {
			picked = append(picked, i)
		}
	}
	if len(picked) == 0 {
		m.Noun, picked = "checkpoint", view.All(l)
	}
	m.Count = len(picked)
	at, err := selected(l, picked, v.r.URL.Query())
	if err != nil {
		return err
	}
	m.Pane = v.turnPane(l, picked, at)
	if v.r.URL.Query().Has("part") {
		return v.send(http.StatusOK, "turn-pane", m.Pane)
	}
	from := max(0, min(at-rowsAround, len(picked)-2*rowsAround)) // the rows around the selected turn
	window, w := picked[from:min(len(picked), from+2*rowsAround)], v.pager("")
	entries := w.entries.Of(l, view.Singles(window))
	for k := range entries {
		e := w.entry(&entries[k])
		e.URL = v.links.turn(&l.Checkpoints[window[k]])
		m.Rows = append(m.Rows, TurnRow{TimelineEntry: e, N: len(picked) - from - k, Selected: from+k == at})
	}
	if r, err := v.repo.Record(&l.Checkpoints[0]); err == nil {
		m.Title = firstLine(r.Subject())
	}
	p := v.page("Turns of " + m.Label)
	p.Crumbs = v.crumbs(i, Link{Text: "Turns"})
	p.Turns = m
	return v.show(p)
}

// selected returns the position in picked that a query selects, by default the newest.
func selected(l *gitstore.List, picked []int, q url.Values) (at int, err error) {
	if name := q.Get("at"); name != "" {
		if at = slices.Index(picked, indexOf(l, name)); at < 0 {
			return 0, &gitstore.NotFoundError{Issue: l.Issue, Name: name}
		}
		return at, nil
	}
	if n, err := strconv.Atoi(q.Get("n")); err == nil {
		return len(picked) - min(max(n, 1), len(picked)), nil
	}
	return 0, nil
}

// turnPane returns the pane of the turn at a position in picked.
func (v *visit) turnPane(l *gitstore.List, picked []int, at int) *TurnPane {
	here := place{l, picked[at]}
	p := &TurnPane{CheckpointPage: v.checkpointPage(here, false), N: len(picked) - at, Count: len(picked)}
	p.Page, p.Actions = p.URL, v.actionsFor(here.checkpoint(), "restore", "resume")
	if p.Problem == "" {
		older, _ := v.repo.Store.Lineage(v.ctx, l).Before(here.at)
		p.compare(v, here.checkpoint(), older, false)
		p.Sides = nil
	}
	if at+1 < len(picked) {
		p.Before = v.links.turn(&l.Checkpoints[picked[at+1]])
	}
	if at > 0 {
		p.After = v.links.turn(&l.Checkpoints[picked[at-1]])
	}
	return p
}

// turn returns the URL of the page of turns that shows a checkpoint.
func (l links) turn(c *gitstore.Checkpoint) string {
	return l.view(c.Issue, "turns") + "?" + url.Values{"at": {nameOf(c)}}.Encode()
}
