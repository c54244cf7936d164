package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

var (
	errReadOnly = errors.New("nothing can be changed here: git checkpoint web was started without --write")
	errForm     = errors.New("this form was not written by this page, or is of an earlier run: go back and ask again")
)

// An action changes a checkpoint.
type action struct {
	verb string // label of the button
	asks string
	does func(*visit, *gitstore.Checkpoint) error
	bad  bool // destructive
	live bool // requires a checkpoint outside the archive
}

// actions returns all actions by URL name.
func actions() map[string]action {
	pin := func(on bool) func(*visit, *gitstore.Checkpoint) error {
		return func(v *visit, c *gitstore.Checkpoint) error {
			_, err := v.repo.Pin(v.ctx, c.Issue, c.ID, on)
			return err
		}
	}
	return map[string]action{
		"pin":   {verb: "Pin", asks: "It is kept then, whatever retention says.", does: pin(true), live: true},
		"unpin": {verb: "Unpin", asks: "Retention decides about it again then.", does: pin(false), live: true},
		"archive": {verb: "Archive", asks: "It leaves the timeline for the archive. git checkpoint undo takes that back.", live: true, does: func(v *visit, c *gitstore.Checkpoint) error {
			_, err := v.repo.Archive(v.ctx, c.Issue, []checkpoint.ID{c.ID}, retention.ReasonAsked)
			return err
		}},
		"drop": {verb: "Drop", asks: "It disappears from every clone at the next sync. git checkpoint undo reverts the drop.", bad: true, does: func(v *visit, c *gitstore.Checkpoint) error {
			return v.repo.Drop(v.ctx, c.Issue, []checkpoint.ID{c.ID})
		}},
	}
}

// A Question asks for confirmation of an action.
type Question struct {
	Verb, Text, Form string
	Bad              bool
	Entry            TimelineEntry
	Back, Proof      string
}

// ask shows a confirmation form for an action.
func (v *visit) ask() error {
	a, c, err := v.wanted()
	if err != nil {
		return err
	}
	p := v.page(a.verb + " " + short(string(c.ID)))
	p.Crumbs = v.crumbs(c.Issue, Crumb{short(string(c.ID)), v.links.checkpoint(c)}, Crumb{Text: a.verb})
	p.Question = &Question{
		Verb: a.verb, Text: a.asks, Bad: a.bad, Entry: v.view("").entry(c, false),
		Form: v.links.below(c, v.r.PathValue("act")), Back: v.links.checkpoint(c), Proof: v.proof(v.r.PathValue("act"), c),
	}
	v.write(http.StatusOK, p)
	return nil
}

// act executes a confirmed action and redirects to a page with its result.
func (v *visit) act() error {
	a, c, err := v.wanted()
	if err != nil {
		return err
	}
	if err := v.r.ParseForm(); err != nil || !equal(v.r.PostForm.Get("proof"), v.proof(v.r.PathValue("act"), c)) {
		return errForm
	}
	if err := a.does(v, c); err != nil {
		return err
	}
	v.repo.Mirror()
	to := v.links.issue(c.Issue)
	if a.live && !a.bad && v.r.PathValue("act") != "archive" {
		to = v.links.checkpoint(c)
	}
	v.w.Header().Set("Location", to)
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// wanted returns the requested action and its checkpoint.
func (v *visit) wanted() (action, *gitstore.Checkpoint, error) {
	a, ok := actions()[v.r.PathValue("act")]
	switch {
	case !ok:
		return a, nil, errNoPage
	case !v.o.Write:
		return a, nil, errReadOnly
	}
	at, err := v.place()
	if err != nil {
		return a, nil, err
	}
	c := at.checkpoint()
	if c.ID == "" || a.live && c.Archived {
		return a, nil, errNoPage
	}
	return a, c, nil
}

// proof returns a MAC that proves that this site generated the form of an action on a
// checkpoint.
func (s *site) proof(act string, c *gitstore.Checkpoint) string {
	m := hmac.New(sha256.New, []byte(s.secret))
	m.Write([]byte(act + "\x00" + string(c.Issue) + "\x00" + string(c.ID)))
	return hex.EncodeToString(m.Sum(nil))
}
