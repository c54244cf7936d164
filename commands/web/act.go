package web

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
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
	verb    string // label of the button
	confirm string // label of the button that confirms, or "" for verb
	asks    string // effect, unless plan describes it
	done    string // result, for the notice
	plan    func(*visit, place, *Question) error
	does    func(*visit, place) (Notice, error) // returns details of the notice
	bad     bool                                // destructive
	live    bool                                // requires a checkpoint outside the archive
	undo    bool                                // can be undone
	here    bool                                // the checkpoint's page shows the result
}

// actionNames are the names of all actions in URLs, in the order of their buttons.
var actionNames = []string{"resume", "restore", "pin", "unpin", "archive", "drop"}

// actions returns all actions by URL name.
func actions() map[string]action {
	return map[string]action{
		"resume":  {verb: "Resume", plan: planResume, does: doResume, live: true, here: true},
		"restore": {verb: "Back to here", confirm: "Restore", plan: planRestore, does: doRestore, here: true},
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
	Calm          bool     // Blocked reports no problem, but an action without effect
	Commands      []string // commands that help with the files that stay, or if it is blocked
	Form, Back    string   // URLs
	Changed       []Option // choices for files that changed since
	Only          []string // only these files, or empty for all
	Hidden        []Hidden // choices that are confirmed
	Kept          []Hidden // choices that a new preview keeps
	Alone         string   // URL of the same question, for a single file
	Proof         string

	bound []string // values of the proof
}

// A Hidden is a hidden field of a form.
type Hidden struct{ Name, Value string }

// bind makes the proof valid only for a value.
func (q *Question) bind(value string) { q.bound = append(q.bound, value) }

// A PlannedFile is a file with its change. Alone is the URL of a plan with this file alone.
type PlannedFile struct{ Path, What, Class, Alone string }

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
	c, act := at.checkpoint(), v.r.PathValue("act")
	e := v.entry(at)
	q := &Question{
		Verb: cmp.Or(a.confirm, a.verb), Heading: a.verb + " this checkpoint?", Bad: a.bad, Entry: &e,
		Form: v.links.below(c, act), Back: v.links.checkpoint(c), bound: []string{act, string(c.Issue), string(c.ID)},
	}
	if a.asks != "" {
		q.Text = append(q.Text, a.asks)
	}
	if a.plan != nil {
		q.Alone = q.Form
		if err := a.plan(v, at, q); err != nil {
			return nil, err
		}
	}
	q.Proof = v.proof(q.bound...)
	return q, nil
}

// act executes a confirmed action and redirects to a page with its result. The proof is that of the
// present plan: if it differs from the plan that the page showed, nothing is done.
func (v *visit) act() error {
	a, at, err := v.wanted()
	if err != nil {
		return err
	}
	if err := v.r.ParseForm(); err != nil {
		return errForm
	}
	q, err := v.question(a, at)
	if err != nil {
		return err
	}
	if q.Blocked != "" {
		return &gitstore.RefusedError{Reason: q.Blocked, Hint: strings.Join(q.Commands, "\n")}
	}
	if err := v.confirmed(q.Proof); err != nil {
		return err
	}
	c, title := at.checkpoint(), q.Entry.Title
	n, err := a.does(v, at)
	if err != nil {
		return err
	}
	v.repo.Mirror()
	if n.Text == "" {
		n.Text = a.done + ": " + title
	}
	if a.undo {
		n.Next = Link{"Undo", v.links.undo(c.Issue)}
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

// A reverting is the undo of a change, or the redo of an undo.
type reverting struct {
	name     string // in URLs
	verb     string
	of       string // text about the reverted operation, with its kind
	none     string // text without an operation to revert
	returns  string // what happens to checkpoints
	done     string // announces the result, with the kind of the operation
	other    string // name of the opposite
	nothing  error
	asBefore string // what happens to files
}

var (
	undo = reverting{
		name: "undo", verb: "Undo", of: "Undo the last %s?", returns: "will return to the timeline", done: "Undone: the last %s", other: "redo",
		none: "This worktree has no operation of issue %s that can be undone.", nothing: gitstore.ErrNothingToUndo,
		asBefore: "as before",
	}
	redo = reverting{
		name: "redo", verb: "Redo", of: "Redo the last %s?", returns: "will leave the timeline", done: "Done again: the last %s", other: "undo",
		none: "Nothing of issue %s was undone here, or something else followed.", nothing: gitstore.ErrNothingToRedo,
		asBefore: "as before the undo",
	}
)

// find returns what a reverting would do, with the values for its proof.
func (u reverting) find(v *visit) (i checkpoint.Issue, shown *gitstore.Undone, bound []string, err error) {
	if !v.o.Write {
		return i, nil, nil, errReadOnly
	}
	if i, err = v.issue(); err != nil {
		return i, nil, nil, err
	}
	if !v.repo.HasIssue(v.ctx, i) {
		return i, nil, nil, &gitstore.NoneError{Issue: i}
	}
	if shown, err = v.repo.Restorer.Preview(v.ctx, gitstore.Way(u.name), gitstore.Which{Issue: i}); err != nil {
		return i, nil, nil, err
	}
	bound = append([]string{u.name, string(i), shown.What}, view.Strings(shown.IDs())...)
	if r := shown.Restored; r != nil {
		bound = append(append(append(bound, r.Undo, "\n"), r.Restored...), r.Skipped...)
	}
	return i, shown, bound, nil
}

// ask shows what a reverting would do.
func (u reverting) ask(v *visit) error {
	i, shown, bound, err := u.find(v)
	if err != nil && !errors.Is(err, u.nothing) {
		return err
	}
	p := v.page(u.verb)
	p.Crumbs = v.crumbs(i, Crumb{Text: u.verb})
	q := &Question{Verb: u.verb, Form: v.links.revert(i, u.name), Back: v.links.issue(i), bound: bound}
	p.Question = q
	if err != nil {
		q.Heading = "There is nothing to " + u.name
		q.Blocked, q.Calm = fmt.Sprintf(u.none, line(string(i))), true
		v.write(http.StatusOK, p)
		return nil
	}
	u.describe(q, v, i, shown)
	if err := work.NoFileBack(u.name, shown); err != nil {
		q.block(err)
	}
	q.Proof = v.proof(q.bound...)
	v.write(http.StatusOK, p)
	return nil
}

// describe fills in what a reverting does.
func (u reverting) describe(q *Question, v *visit, i checkpoint.Issue, shown *gitstore.Undone) {
	q.Heading = fmt.Sprintf(u.of, shown.What)
	if shown.Commits+shown.Saves > 0 {
		q.Text = append(q.Text, count(shown.Commits, "commit")+" and "+count(shown.Saves, "save")+" have followed since.")
	}
	if shown.Restored == nil {
		q.Text = append(q.Text, count(len(shown.IDs()), "checkpoint")+" "+u.returns+":")
		q.list(view.Strings(shown.IDs()), "", "")
		return
	}
	if l, err := v.chains.read(v.ctx, v.repo.Store, i, false, 0); err == nil {
		if at := indexOf(l, string(shown.Restored.ID)); at >= 0 {
			e := v.entry(place{l, at})
			q.Entry = &e
		}
	}
	q.Text = append(q.Text, "A file that has changed since stays as it is, also if a commit has changed it.")
	q.list(shown.Restored.Restored, u.asBefore, "modified")
	q.list(shown.Restored.Skipped, "changed since and stays as it is", "")
}

// act reverts what a page showed.
func (u reverting) act(v *visit) error {
	i, shown, bound, err := u.find(v)
	if err != nil {
		return err
	}
	if err := v.confirmed(v.proof(bound...)); err != nil {
		return err
	}
	if err := work.NoFileBack(u.name, shown); err != nil {
		return err
	}
	done, err := v.repo.Revert(v.ctx, gitstore.Way(u.name), gitstore.Which{Issue: i}, shown)
	if err != nil {
		return err
	}
	v.repo.Mirror()
	n := Notice{Text: fmt.Sprintf(u.done, done.What), Next: Link{map[string]string{"undo": "Undo", "redo": "Redo"}[u.other], v.links.revert(i, u.other)}}
	if len(done.IDs()) > 0 {
		n.Text += " (" + count(len(done.IDs()), "checkpoint") + ")"
	}
	if done.Restored != nil {
		n.Text += " (" + count(len(done.Restored.Restored), "file") + " " + u.asBefore + ")"
		for _, path := range done.Restored.Skipped[:min(len(done.Restored.Skipped), maxPlanned)] {
			n.Lines = append(n.Lines, "changed since and stays as it is: "+line(path))
		}
	}
	v.redirect(v.links.issue(i), n)
	return nil
}
