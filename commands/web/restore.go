package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// maxPlanned limits the listed files of an action.
const maxPlanned = 200

// A wish has the choices of a person for a restore or a resume: the values of a form.
type wish struct {
	changed gitstore.Changed // version of files that changed since, "" for the command's default
	paths   []string         // only these files
	branch  string           // switch to this branch first
}

func (v *visit) wish() (w wish, err error) {
	q := v.r.URL.Query()
	if v.r.PostForm != nil {
		q = v.r.PostForm
	}
	w = wish{changed: gitstore.Changed(q.Get("changed"))}
	if _, err := gitstore.ParseChanged(string(w.changed)); err != nil {
		return w, errNoPage
	}
	if w.branch, err = url.PathUnescape(q.Get("branch")); err != nil {
		return w, errNoPage
	}
	for _, value := range q["path"] {
		path, err := url.PathUnescape(value)
		if err != nil || !filepath.IsLocal(path) || len(w.paths) == 20 {
			return w, errNoPage
		}
		w.paths = append(w.paths, path)
	}
	return w, nil
}

func (w wish) fields() url.Values {
	q := url.Values{}
	if w.changed != "" {
		q.Set("changed", string(w.changed))
	}
	if w.branch != "" {
		q.Set("branch", url.PathEscape(w.branch))
	}
	for _, path := range w.paths {
		q.Add("path", url.PathEscape(path)) // without control characters
	}
	return q
}

// choose adds the choices to a question, and what else a person can choose.
func (q *Question) choose(w wish) {
	for name, values := range w.fields() {
		for _, value := range values {
			q.Hidden = append(q.Hidden, Hidden{name, value})
		}
	}
	q.bind(w.fields().Encode())
	q.Only = w.paths
	for _, o := range []Option{
		{"", "stay as they are", false}, {"merge", "are merged", false}, {"checkpoint", "become those of the checkpoint", false},
	} {
		o.Selected = o.Value == string(w.changed)
		q.Changed = append(q.Changed, o)
	}
}

// planRestore describes a restore by a dry run, which plans as the command restore does.
func planRestore(v *visit, at place, q *Question) error {
	w, err := v.wish()
	if err != nil {
		return err
	}
	q.Verb, q.Heading = "Restore", "Restore the files of this checkpoint?"
	q.Text = append(q.Text, "The files become as they were at the save. Changes of commits are kept. You can undo this.")
	q.choose(w)
	q.do = func() (Notice, error) {
		r, err := v.restore(at, w, false)
		if err != nil {
			return Notice{}, err
		}
		return v.restored("Restored "+view.Plural(len(r.Done.Restored), "file")+" from: "+q.Entry.Title, at, r.Done), nil
	}
	r, err := v.restore(at, w, true)
	if err != nil {
		return q.refuse(err)
	}
	q.listRestore(v, r.Done)
	q.warn(r)
	return nil
}

// warn adds what restore reports about files that stay. If nothing would be restored, the action is
// blocked.
func (q *Question) warn(r *work.Restoration) {
	problem := cmp.Or(r.InTheWay(), work.Conflicts("restore", r.Done), r.LeftAlone())
	switch {
	case len(r.Done.Restored) > 0 && problem != nil:
		q.Text = append(q.Text, problem.Error())
		q.Commands = hints(failure.Classify(problem).Hint)
	case len(r.Done.Restored) > 0:
		q.Commands = r.Answers()
	case problem != nil:
		q.block(problem)
	case r.Nothing() != "":
		q.Blocked, q.Calm = r.Nothing(), true
	default:
		q.Blocked, q.Calm = "nothing to restore", true
	}
	if hint := r.OfOthers(); hint != "" {
		q.Commands = append(q.Commands, hint)
	}
}

// restore restores the files of a checkpoint as the command restore does, or only plans to.
func (v *visit) restore(at place, w wish, dryRun bool) (*work.Restoration, error) {
	r := &work.Restoration{Paths: w.paths, Root: v.repo.Root(), Request: gitstore.RestoreRequest{
		Checkpoint: at.checkpoint(), Branch: v.repo.Detached(),
		Request: gitstore.RestoreOptions{Asked: true, Changed: w.changed, DryRun: dryRun},
	}}
	for _, path := range w.paths {
		r.Request.Paths = append(r.Request.Paths, filepath.ToSlash(path))
	}
	var err error
	if r.Done, err = v.repo.Restore(v.ctx, r.Request); err != nil {
		return nil, r.Refused(err)
	}
	return r, nil
}

func (v *visit) restored(text string, at place, done *gitstore.Restored) Notice {
	n := Notice{Text: text}
	if done.Undo != "" {
		n.Next = Link{"Undo", v.links.view(at.list.Issue, "undo")}
	}
	for _, f := range view.RestoredFiles(done, false, v.repo.Agent) {
		if f.Kind != view.FileRestored && f.Kind != view.FileRemoved && len(n.Lines) < maxPlanned {
			n.Lines = append(n.Lines, f.What+": "+f.Path)
		}
	}
	if len(done.Merging) > 0 {
		n.Lines = append(n.Lines, "The checkpoint was saved in a merge with "+view.List(done.Merging)+", and no merge is under way")
	}
	return n
}

// refuse describes a refusal of the store. Other errors are returned.
func (q *Question) refuse(err error) error {
	var refused *gitstore.RefusedError
	if f := failure.Classify(err); !errors.As(err, &refused) && f.Code != failure.Refused && !errors.As(err, new(*gitstore.UnchangedPathError)) {
		return err
	}
	q.block(err)
	return nil
}

var classes = map[string]string{
	view.FileRestored: "modified", view.FileRemoved: "deleted", view.FileInTheWay: "conflicted", view.FileConflicts: "conflicted",
}

// listRestore lists what a restore does to each file. The plan is a part of the question's proof, so
// that a confirmation of another plan is refused.
func (q *Question) listRestore(v *visit, done *gitstore.Restored) {
	files := view.RestoredFiles(done, true, v.repo.Agent)
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s\x00%s\x00", f.Path, f.What)
	}
	q.bind(hex.EncodeToString(sum.Sum(nil)))
	conflicts := view.Set(done.Merged)
	for _, f := range files {
		if f.Kind == view.FileConflicts {
			continue // the line of the restored file has it
		}
		planned := PlannedFile{Path: f.Path, What: f.What, Class: classes[f.Kind]}
		if conflicts[f.Path] {
			planned.What, planned.Class = planned.What+"; "+view.HasConflicts, classes[view.FileConflicts]
		}
		if len(files) > 1 && f.Kind != view.FileLater {
			planned.Alone = q.Form + "?" + url.Values{"path": {url.PathEscape(f.Path)}}.Encode()
		}
		q.add(planned)
	}
}

// planResume describes a resume: the verdict, and the restore of the files. If the work belongs to
// another branch, it first offers to switch to it.
func planResume(v *visit, at place, q *Question) error {
	w, err := v.wish()
	if err != nil {
		return err
	}
	q.Heading = "Resume from this checkpoint?"
	j, err := v.judged(at.checkpoint())
	if err != nil {
		return err
	}
	shown := verdict(j, false)
	q.Verdict = &shown
	q.Text = append(q.Text, "The files of the checkpoint are restored, and the next save continues from it. You can undo the restore.")
	q.do = func() (Notice, error) { return v.resume(at, w) }
	home := switchTo(j)
	switch {
	case w.branch != "" && w.branch != home:
		return errForm
	case home != "":
		return v.planSwitch(q, j, home)
	}
	w.paths = nil // resume takes none
	q.choose(w)
	q.bind(j.Verdict.Action.String())
	if q.Blocked, q.Commands = blocks(j); q.Blocked != "" {
		return nil
	}
	done, err := v.resumeFiles(at, w, true)
	if err != nil {
		return q.refuse(err)
	}
	q.listRestore(v, done)
	if len(q.Files) == 0 {
		q.Text = append(q.Text, "No file has to change.")
	}
	return nil
}

// switchTo returns the branch of a checkpoint to which a resume can switch first, or "".
func switchTo(s *view.Standing) string {
	if o := s.Verdict.Other; o.State != freshness.BranchOther || o.Place != "" || !s.Verdict.CanResume || len(s.Verdict.Awaiting) > 0 {
		return ""
	}
	return s.Home()
}

// planSwitch describes a resume that switches to another branch first. The files are compared after
// the switch.
func (v *visit) planSwitch(q *Question, here *view.Standing, home string) error {
	q.Verb, q.Heading = "Switch branch and resume", "Switch to "+home+" and resume?"
	q.Text = append(q.Text, "If git refuses the switch, nothing changes. After the switch, a file that has changed since stays as it is.")
	q.choose(wish{branch: home})
	q.Changed = nil
	r, err := v.repo.ValidRecord(here.Checkpoint)
	if err != nil {
		return err
	}
	for _, f := range r.Files() {
		q.list([]string{f.Path}, "restored after the switch", "modified")
	}
	return nil
}

// resumeFiles restores the files of a checkpoint as resume does, which accepts a HEAD on another
// branch, or only plans to.
func (v *visit) resumeFiles(at place, w wish, dryRun bool) (*gitstore.Restored, error) {
	return v.repo.Restore(v.ctx, gitstore.RestoreRequest{
		Checkpoint: at.checkpoint(), AnyBranch: true, Request: gitstore.RestoreOptions{Changed: w.changed, DryRun: dryRun},
	})
}

// resume restores the files of a checkpoint and records that work continues from it.
func (v *visit) resume(at place, w wish) (n Notice, err error) {
	c := at.checkpoint()
	switched := ""
	if w.branch != "" {
		done, err := v.switchBranch(c, w.branch)
		if err != nil {
			return Notice{}, err
		}
		defer func() {
			if err != nil {
				_, _ = work.SwitchBack(context.WithoutCancel(v.ctx), v.repo.Store, done)
			}
		}()
		switched = "Switched to branch " + w.branch + ". "
	}
	j, err := v.judged(c)
	if err != nil {
		return Notice{}, err
	}
	if why, commands := blocks(j); why != "" {
		return Notice{}, &gitstore.RefusedError{Reason: why, Hint: strings.Join(commands, "\n")}
	}
	done, err := v.resumeFiles(at, w, false)
	if err != nil {
		return Notice{}, err
	}
	text := switched + "Resumed"
	if !j.Verdict.At.Complete {
		text += " at " + j.ContinueFrom()
	}
	n = v.restored(text+". "+view.Plural(len(done.Restored), "file")+" restored.", at, done)
	if err := v.repo.SetResumed(c, gitstore.Resumption{Stale: j.Verdict.Old}); err != nil {
		n.Text = "The files are restored, but the resume is not recorded: " + err.Error()
	}
	return n, nil
}

// switchBranch switches to a branch as resume --branch does, and opens the repository again.
func (v *visit) switchBranch(c *gitstore.Checkpoint, name string) (gitstore.Switch, error) {
	done, err := work.SwitchBranch(v.ctx, v.repo.Store, c, name)
	if err != nil {
		return done, err
	}
	v.repo.Close()
	repo, err := v.o.Open(v.ctx)
	if err == nil {
		v.repo = repo
	}
	return done, err
}

// judged returns the assessment of a checkpoint that may be resumed.
func (v *visit) judged(c *gitstore.Checkpoint) (*view.Standing, error) {
	r, err := v.repo.ValidRecord(c)
	if err != nil {
		return nil, err
	}
	return v.repo.Judge(c, r)
}

// blocks returns why the page cannot resume, in the words of resume, and commands that help, or "".
// The page answers the questions that --yes answers, and no others: it approves no phases.
func blocks(s *view.Standing) (why string, commands []string) {
	v, this := s.Verdict, resumeCommand(s, false)
	switch {
	case !v.CanResume:
		return "This checkpoint cannot be resumed.", nil
	case len(v.Awaiting) > 0:
		return "approval of phase " + v.Awaiting[0] + " is pending", []string{this + " --approve " + view.QuoteArg(v.Awaiting[0])}
	case v.Other.State == freshness.BranchOther && v.Other.Place != "":
		return s.BranchMessage() + "; " + s.Placed(), []string{"cd " + view.QuoteArg(v.Other.Place)}
	case v.Other.State == freshness.BranchOther:
		return s.BranchMessage(), []string{this + " --branch " + view.QuoteArg(s.Home())}
	}
	for _, r := range v.Reasons {
		if r.Check == "head" && r.Action == freshness.PromptUser {
			return r.Message, append(hints(r.Hint), this+" --force")
		}
	}
	return "", nil
}

// hints returns the commands of a hint, which has one a line.
func hints(hint string) []string {
	return strings.FieldsFunc(hint, func(r rune) bool { return r == '\n' })
}
