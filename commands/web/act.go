package web

import (
	"crypto/hmac"
	"crypto/rand"
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
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/retention"
)

var (
	errReadOnly = errors.New("nothing can be changed here: git checkpoint web was started without --write")
	errForm     = errors.New("this form is of an earlier run, of another page, or of an earlier state: go back and ask again")
)

// An action changes a checkpoint, or files to those of a checkpoint.
type action struct {
	verb string // label of the button
	asks string // effect, "" if the question has a plan
	done string // result, for the notice
	bad  bool   // destructive
	live bool   // requires a checkpoint outside the archive
	undo bool   // can be undone
	here bool   // the checkpoint's page shows the result
}

// actionNames are the names of all actions in URLs, in the order of their buttons.
var actionNames = []string{"resume", "restore", "pin", "unpin", "archive", "drop"}

var actions = map[string]action{
	"resume":  {verb: "Resume", live: true, here: true},
	"restore": {verb: "Back to here", here: true},
	"pin":     {verb: "Pin", asks: "Retention then never removes this checkpoint.", done: "Pinned", live: true, here: true},
	"unpin":   {verb: "Unpin", asks: "Retention can then remove this checkpoint again.", done: "Unpinned", live: true, here: true},
	"archive": {verb: "Archive", asks: "The checkpoint moves from the timeline to the archive. You can undo this.", done: "Archived", live: true, undo: true},
	"drop":    {verb: "Drop", asks: "The checkpoint disappears here, and from every clone at the next sync. You can undo this here.", done: "Dropped", bad: true, undo: true},
}

func (v *visit) apply(act string, c *gitstore.Checkpoint) (err error) {
	switch act {
	case "archive":
		_, err = v.repo.Archive(v.ctx, c.Issue, []checkpoint.ID{c.ID}, retention.ReasonAsked)
	case "drop":
		err = v.repo.Drop(v.ctx, c.Issue, []checkpoint.ID{c.ID})
	default:
		_, err = v.repo.Pin(v.ctx, c.Issue, c.ID, act == "pin")
	}
	return err
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
	Hidden        []Hidden // choices that are confirmed; a new preview keeps the paths
	Proof         string

	title   string
	crumbs  []Link
	bound   []string               // values of the proof
	refused error                  // error of a blocked action, or nil to refuse it with Blocked
	do      func() (Notice, error) // the action
	to      string                 // URL of the page with the result
}

type Hidden struct{ Name, Value string }

// bind makes the proof valid only for a value.
func (q *Question) bind(value string) { q.bound = append(q.bound, value) }

// block blocks the action with the words and the commands of an error.
func (q *Question) block(err error) {
	q.Blocked = err.Error()
	q.Commands = hints(failure.Classify(err).Hint)
}

// A PlannedFile is a file with its change. Alone is the URL of a plan with this file alone.
type PlannedFile struct{ Path, What, Class, Alone string }

func (q *Question) list(paths []string, what, class string) {
	for _, path := range paths {
		q.add(PlannedFile{Path: path, What: what, Class: class})
	}
}

// add adds a file to the plan, up to a limit.
func (q *Question) add(f PlannedFile) {
	if len(q.Files) < maxPlanned {
		q.Files = append(q.Files, f)
	} else {
		q.FilesLeft++
	}
}

// A Notice reports the result of an action, on the page after it.
type Notice struct {
	Text  string
	Lines []string // details
	Next  Link     // page that reverts the action
}

const maxNotices = 100

// A questioner returns the question of the action that a request wants.
type questioner func(*visit) (*Question, error)

// ask shows what an action would do.
func (question questioner) ask(v *visit) error {
	q, err := question(v)
	if err != nil {
		return err
	}
	q.Proof = v.proof(q.bound...)
	p := v.page(q.title)
	p.Crumbs, p.Question = q.crumbs, q
	return v.show(p)
}

// act executes a confirmed action and redirects to a page with its result. The proof is that of the
// present plan: if it differs from the plan that the page showed, nothing is done.
func (question questioner) act(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return errForm
	}
	q, err := question(v)
	switch {
	case err != nil:
		return err
	case q.refused != nil:
		return q.refused
	case q.Blocked != "":
		return &gitstore.RefusedError{Reason: q.Blocked, Hint: strings.Join(q.Commands, "\n")}
	case !equal(v.r.PostForm.Get("proof"), v.proof(q.bound...)):
		return errForm
	}
	n, err := q.do()
	if err != nil {
		return err
	}
	v.repo.Mirror()
	key := rand.Text() // nobody can make a link that shows another text
	v.notices.put(key, n, maxNotices)
	v.w.Header().Set("Location", q.to+"?notice="+key)
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

func (v *visit) aboutCheckpoint() (*Question, error) {
	act := v.r.PathValue("act")
	a, ok := actions[act]
	switch {
	case !ok:
		return nil, errNoPage
	case !v.o.Write:
		return nil, errReadOnly
	}
	at, err := v.place()
	if err != nil {
		return nil, err
	}
	c := at.checkpoint()
	if c.ID == "" || a.live && c.Archived {
		return nil, errNoPage
	}
	e := v.entry(at)
	q := &Question{
		Verb: a.verb, Heading: a.verb + " this checkpoint?", Bad: a.bad, Entry: e,
		Form: v.links.below(c, act), Back: v.links.checkpoint(c), bound: []string{act, string(c.Issue), string(c.ID)},
		title: a.verb + ": " + e.Title, crumbs: v.crumbs(c.Issue, Link{e.Title, v.links.checkpoint(c)}, Link{Text: a.verb}),
		to: v.links.issue(c.Issue),
	}
	if a.here {
		q.to = q.Back
	}
	switch act {
	case "resume":
		return q, planResume(v, at, q)
	case "restore":
		return q, planRestore(v, at, q)
	}
	q.Text = []string{a.asks}
	q.do = func() (Notice, error) {
		n := Notice{Text: a.done + ": " + e.Title}
		if a.undo {
			n.Next = Link{"Undo", v.links.view(c.Issue, "undo")}
		}
		return n, v.apply(act, c)
	}
	return q, nil
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
	other    Link   // verb and name of the opposite
	nothing  error
	asBefore string // what happens to files
}

var (
	undo = reverting{
		name: "undo", verb: "Undo", of: "Undo the last %s?", returns: "will return to the timeline", done: "Undone: the last %s", other: Link{"Redo", "redo"},
		none: "This worktree has no operation of issue %s that can be undone.", nothing: gitstore.ErrNothingToUndo,
		asBefore: "as before",
	}
	redo = reverting{
		name: "redo", verb: "Redo", of: "Redo the last %s?", returns: "will leave the timeline", done: "Done again: the last %s", other: Link{"Undo", "undo"},
		none: "Nothing of issue %s was undone here, or something else followed.", nothing: gitstore.ErrNothingToRedo,
		asBefore: "as before the undo",
	}
)

func (u reverting) question(v *visit) (*Question, error) {
	if !v.o.Write {
		return nil, errReadOnly
	}
	i, err := v.issue()
	if err != nil {
		return nil, err
	}
	if !v.repo.HasIssue(v.ctx, i) {
		return nil, &gitstore.NoneError{Issue: i}
	}
	q := &Question{
		Verb: u.verb, Form: v.links.view(i, u.name), Back: v.links.issue(i), bound: []string{u.name, string(i)},
		title: u.verb, crumbs: v.crumbs(i, Link{Text: u.verb}), to: v.links.issue(i),
	}
	shown, err := v.repo.Restorer.Preview(v.ctx, gitstore.Way(u.name), gitstore.Which{Issue: i})
	if errors.Is(err, u.nothing) {
		q.Heading, q.refused = "There is nothing to "+u.name, err
		q.Blocked, q.Calm = fmt.Sprintf(u.none, i), true
		return q, nil
	}
	if err != nil {
		return nil, err
	}
	q.Heading = fmt.Sprintf(u.of, shown.What)
	if shown.Commits+shown.Saves > 0 {
		q.Text = append(q.Text, view.Plural(shown.Commits, "commit")+" and "+view.Plural(shown.Saves, "save")+" have followed since.")
	}
	ids := view.Strings(shown.IDs())
	q.bound = append(append(q.bound, shown.What), ids...)
	if r := shown.Restored; r != nil {
		q.bound = append(append(append(q.bound, r.Undo, "\n"), r.Restored...), r.Skipped...)
		if at, err := v.placeOf(i, string(r.ID)); err == nil {
			q.Entry = v.entry(at)
		}
		q.Text = append(q.Text, "A file that has changed since stays as it is, also if a commit has changed it.")
		q.list(r.Restored, u.asBefore, "modified")
		q.list(r.Skipped, "changed since and stays as it is", "")
	} else {
		q.Text = append(q.Text, view.Plural(len(ids), "checkpoint")+" "+u.returns+":")
		q.list(ids, "", "")
	}
	if err := work.NoFileBack(u.name, shown); err != nil {
		q.block(err)
	}
	q.do = func() (n Notice, err error) {
		done, err := v.repo.Revert(v.ctx, gitstore.Way(u.name), gitstore.Which{Issue: i}, shown)
		if err != nil {
			return n, err
		}
		n = Notice{Text: fmt.Sprintf(u.done, done.What), Next: Link{u.other.Text, v.links.view(i, u.other.URL)}}
		if len(done.IDs()) > 0 {
			n.Text += " (" + view.Plural(len(done.IDs()), "checkpoint") + ")"
		}
		if r := done.Restored; r != nil {
			n.Text += " (" + view.Plural(len(r.Restored), "file") + " " + u.asBefore + ")"
			for _, path := range r.Skipped[:min(len(r.Skipped), maxPlanned)] {
				n.Lines = append(n.Lines, "changed since and stays as it is: "+path)
			}
		}
		return n, nil
	}
	return q, nil
}
