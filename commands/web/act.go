package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

var (
	errReadOnly = errors.New("nothing can be changed here: git checkpoint web was started without --write")
	errForm     = errors.New("this form is of an earlier run, of another page, or of an earlier state: go back and ask again")
)

// An action changes a checkpoint, or files to those of a checkpoint.
type action struct {
	verb string // label of the button
	asks string // effect, unless plan describes it
	done string // result, for the notice
	plan func(*visit, place, *Question) error
	does func(*visit, place) (Notice, error) // returns details of the notice
	bad  bool                                // destructive
	live bool                                // requires a checkpoint outside the archive
	undo bool                                // can be undone
	here bool                                // the checkpoint's page shows the result
}

// actionNames are the names of all actions in URLs, in the order of their buttons.
var actionNames = []string{"resume", "restore", "pin", "unpin", "archive", "drop"}

// actions returns all actions by URL name.
func actions() map[string]action {
	return map[string]action{
		"resume":  {verb: "Resume", plan: planResume, does: resume, live: true, here: true},
		"restore": {verb: "Restore", plan: planRestore, does: restore, here: true},
		"pin":     {verb: "Pin", asks: "Retention then never removes this checkpoint.", done: "Pinned", does: pin(true), live: true, here: true},
		"unpin":   {verb: "Unpin", asks: "Retention can then remove this checkpoint again.", done: "Unpinned", does: pin(false), live: true, here: true},
		"archive": {verb: "Archive", asks: "The checkpoint moves from the timeline to the archive. You can undo this.", done: "Archived", live: true, undo: true, does: archive},
		"drop":    {verb: "Drop", asks: "The checkpoint disappears here, and from every clone at the next sync. You can undo this here.", done: "Dropped", bad: true, undo: true, does: drop},
	}
}

func pin(on bool) func(*visit, place) (Notice, error) {
	return func(v *visit, at place) (n Notice, err error) {
		c := at.checkpoint()
		_, err = v.repo.Pin(v.ctx, c.Issue, c.ID, on)
		return n, err
	}
}

func archive(v *visit, at place) (n Notice, err error) {
	c := at.checkpoint()
	_, err = v.repo.Archive(v.ctx, c.Issue, []checkpoint.ID{c.ID}, retention.ReasonAsked)
	return n, err
}

func drop(v *visit, at place) (n Notice, err error) {
	c := at.checkpoint()
	return n, v.repo.Drop(v.ctx, c.Issue, []checkpoint.ID{c.ID})
}

// A Question describes an action before it is done, and asks for confirmation.
type Question struct {
	Verb, Heading string
	Text          []string
	Bad           bool
	Entry         *TimelineEntry
	Files         []PlannedFile
	FilesLeft     int
	Verdict       *Verdict
	Blocked       string   // reason why the action is impossible now, or ""
	Commands      []string // commands that help if it is blocked
	Form, Back    string   // URLs
	Proof         string
}

// A PlannedFile is a file and what happens to it.
type PlannedFile struct{ Path, What, Class string }

// ask shows what an action would do.
func (v *visit) ask() error {
	a, at, err := v.wanted()
	if err != nil {
		return err
	}
	q, err := v.question(a, at)
	if err != nil {
		return err
	}
	p := v.page(a.verb + ": " + q.Entry.Title)
	p.Crumbs = v.crumbs(at.list.Issue, Crumb{q.Entry.Title, v.links.checkpoint(at.checkpoint())}, Crumb{Text: a.verb})
	p.Question = q
	v.write(http.StatusOK, p)
	return nil
}

// question returns the question of an action about a checkpoint.
func (v *visit) question(a action, at place) (*Question, error) {
	c := at.checkpoint()
	e := v.entry(at)
	q := &Question{
		Verb: a.verb, Heading: a.verb + " this checkpoint?", Bad: a.bad, Entry: &e,
		Form: v.links.below(c, v.r.PathValue("act")), Back: v.links.checkpoint(c), Proof: v.proof(v.r.PathValue("act"), string(c.Issue), string(c.ID)),
	}
	if a.asks != "" {
		q.Text = append(q.Text, a.asks)
	}
	if a.plan != nil {
		return q, a.plan(v, at, q)
	}
	return q, nil
}

// act executes a confirmed action and redirects to a page with its result.
func (v *visit) act() error {
	a, at, err := v.wanted()
	if err != nil {
		return err
	}
	c := at.checkpoint()
	if err := v.confirmed(v.proof(v.r.PathValue("act"), string(c.Issue), string(c.ID))); err != nil {
		return err
	}
	title := v.entry(at).Title
	n, err := a.does(v, at)
	if err != nil {
		return err
	}
	v.repo.Mirror()
	if n.Text == "" {
		n.Text = a.done + ": " + title
	}
	if a.undo {
		n.Undo = v.links.undo(c.Issue)
	}
	to := v.links.issue(c.Issue)
	if a.here {
		to = v.links.checkpoint(c)
	}
	v.redirect(to, n)
	return nil
}

// redirect sends the browser to a page that shows a notice.
func (v *visit) redirect(to string, n Notice) {
	v.w.Header().Set("Location", v.notices.add(to, n))
	v.w.WriteHeader(http.StatusSeeOther)
}

// confirmed fails unless the form has a proof.
func (v *visit) confirmed(proof string) error {
	if err := v.r.ParseForm(); err != nil || !equal(v.r.PostForm.Get("proof"), proof) {
		return errForm
	}
	return nil
}

// wanted returns the requested action and its checkpoint.
func (v *visit) wanted() (action, place, error) {
	a, ok := actions()[v.r.PathValue("act")]
	switch {
	case !ok:
		return a, place{}, errNoPage
	case !v.o.Write:
		return a, place{}, errReadOnly
	}
	at, err := v.place()
	if err != nil {
		return a, place{}, err
	}
	if c := at.checkpoint(); c.ID == "" || a.live && c.Archived {
		return a, place{}, errNoPage
	}
	return a, at, nil
}

// proof returns a MAC that proves that this site generated the form of an action.
func (s *site) proof(of ...string) string {
	m := hmac.New(sha256.New, []byte(s.secret))
	m.Write([]byte(strings.Join(of, "\x00")))
	return hex.EncodeToString(m.Sum(nil))
}

// undoing is what an undo would revert, with its proof.
func (v *visit) undoing() (i checkpoint.Issue, u *gitstore.Undone, proof string, err error) {
	if !v.o.Write {
		return i, nil, "", errReadOnly
	}
	if i, err = v.issue(); err != nil {
		return i, nil, "", err
	}
	if !v.repo.HasIssue(v.ctx, i) {
		return i, nil, "", &gitstore.NoneError{Issue: i}
	}
	if u, err = v.repo.PreviewUndo(v.ctx, i); err != nil {
		return i, nil, "", err
	}
	of := []string{"undo", string(i), u.What}
	for _, id := range u.IDs {
		of = append(of, string(id))
	}
	if u.Restored != nil {
		of = append(of, u.Restored.Undo)
	}
	return i, u, v.proof(of...), nil
}

// askUndo shows what an undo would revert.
func (v *visit) askUndo() error {
	i, u, proof, err := v.undoing()
	if err != nil && !errors.Is(err, gitstore.ErrNothingToUndo) {
		return err
	}
	p := v.page("Undo")
	p.Crumbs = v.crumbs(i, Crumb{Text: "Undo"})
	q := &Question{Verb: "Undo", Form: v.links.undo(i), Back: v.links.issue(i), Proof: proof}
	p.Question = q
	if err != nil {
		q.Heading = "There is nothing to undo"
		q.Blocked = "This clone has no restore, archive, drop or prune of issue " + line(string(i)) + " that can be undone."
		v.write(http.StatusOK, p)
		return nil
	}
	q.describeUndo(v, i, u)
	v.write(http.StatusOK, p)
	return nil
}

// describeUndo fills in what an undo reverts.
func (q *Question) describeUndo(v *visit, i checkpoint.Issue, u *gitstore.Undone) {
	q.Heading = "Undo the last " + u.What + "?"
	if u.Commits+u.Saves > 0 {
		q.Text = append(q.Text, count(u.Commits, "commit")+" and "+count(u.Saves, "save")+" have followed since.")
	}
	if u.Restored == nil {
		q.Text = append(q.Text, count(len(u.IDs), "checkpoint")+" will return to the timeline:")
		for _, id := range u.IDs[:min(len(u.IDs), maxPlanned)] {
			q.Files = append(q.Files, PlannedFile{Path: line(string(id)), What: "returns", Class: "added"})
		}
		q.FilesLeft = max(0, len(u.IDs)-maxPlanned)
		return
	}
	if l, err := v.chains.read(v.ctx, v.repo.Store, i, false, 0); err == nil {
		if at := indexOf(l, string(u.Restored.ID)); at >= 0 {
			e := v.entry(place{l, at})
			q.Entry = &e
		}
	}
	q.Text = append(q.Text, "These files get the content that they had before the restore. A file that has changed since the restore stays as it is, also if a commit has changed it.")
	if n := len(u.Restored.Skipped); n > 0 {
		q.Text = append(q.Text, count(n, "file")+" changed since and will stay as it is.")
	}
	q.list(u.Restored.Restored, "as before", "modified")
}

// undo reverts the last restore, drop, archive or prune.
func (v *visit) undo() error {
	i, _, proof, err := v.undoing()
	if err != nil {
		return err
	}
	if err := v.confirmed(proof); err != nil {
		return err
	}
	u, err := v.repo.Undo(v.ctx, i)
	if err != nil {
		return err
	}
	v.repo.Mirror()
	n := Notice{Text: "Undone: the last " + u.What}
	if len(u.IDs) > 0 {
		n.Text += " (" + count(len(u.IDs), "checkpoint") + " returned)"
	}
	if u.Restored != nil {
		n.Text += " (" + count(len(u.Restored.Restored), "file") + " as before)"
		for _, path := range u.Restored.Skipped[:min(len(u.Restored.Skipped), maxPlanned)] {
			n.Lines = append(n.Lines, "Changed since the restore, left as it is: "+line(path))
		}
	}
	v.redirect(v.links.issue(i), n)
	return nil
}
