package web

import (
	"errors"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
)

// maxPlanned limits the listed files of an action.
const maxPlanned = 200

// planRestore describes a restore by a dry run.
func planRestore(v *visit, at place, q *Question) error {
	q.Heading = "Restore the files of this checkpoint?"
	q.Text = append(q.Text, "Only files that the checkpoint changed against its own HEAD are restored. You can undo this.")
	done, err := v.restoreFiles(at.checkpoint(), true, true)
	if err != nil {
		return q.refuse(err)
	}
	q.listRestore(done)
	if len(done.Restored) == 0 {
		q.Blocked = "Nothing to restore: the files that can be restored are already as in the checkpoint."
	}
	return nil
}

// restore restores the files of a checkpoint.
func restore(v *visit, at place) (Notice, error) {
	done, err := v.restoreFiles(at.checkpoint(), true, false)
	if err != nil {
		return Notice{}, err
	}
	return v.restored("Restored "+count(len(done.Restored), "file")+" from: "+v.entry(at).Title, at, done), nil
}

// restored returns the notice of a restore.
func (v *visit) restored(text string, at place, done *gitstore.Restored) Notice {
	n := Notice{Text: text}
	if done.Undo != "" {
		n.Undo = v.links.undo(at.list.Issue)
	}
	for _, l := range []struct {
		paths []string
		text  string
	}{
		{done.Skipped, "Changed since, left as it is: "},
		{done.InTheWay, "In the way, left as it is: "},
		{done.Unsaved, "Changed since and not in the checkpoint, left as it is: "},
		{done.Others, "Changed by another session in this worktree, stays as it is: "},
		{done.Sparse, "Outside the sparse checkout or marked skip-worktree, not written: "},
		{done.Merged, "Conflicts to resolve: "},
	} {
		for _, path := range l.paths[:min(len(l.paths), maxPlanned)] {
			n.Lines = append(n.Lines, l.text+line(path))
		}
	}
	for _, f := range done.Earlier[:min(len(done.Earlier), maxPlanned)] {
		n.Lines = append(n.Lines, "From the earlier "+line(string(f.ID))+": "+line(f.Path))
	}
	if len(done.Merging) > 0 {
		n.Lines = append(n.Lines, "The checkpoint was saved during a merge with "+line(view.List(done.Merging))+", which is not restored")
	}
	return n
}

// restoreFiles restores the files of a checkpoint, or only plans to. With asked it does so as
// the command restore, otherwise as resume, which accepts a HEAD on another branch.
func (v *visit) restoreFiles(c *gitstore.Checkpoint, asked, dryRun bool) (*gitstore.Restored, error) {
	return v.repo.Restore(v.ctx, gitstore.RestoreRequest{
		Checkpoint: c, AnyBranch: !asked, Request: gitstore.RestoreOptions{Asked: asked, DryRun: dryRun},
	})
}

// refuse describes a refusal of the store. Other errors are returned.
func (q *Question) refuse(err error) error {
	var refused *gitstore.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	q.Blocked = block(cut(refused.Reason, maxText))
	for hint := range strings.SplitSeq(refused.Hint, "\n") {
		if hint != "" {
			q.Commands = append(q.Commands, line(cut(hint, maxLine)))
		}
	}
	return nil
}

// otherSession describes a file of another session that works in the same worktree.
const otherSession = "changed by another session in this worktree, stays as it is"

// listRestore lists what a restore does to each file.
func (q *Question) listRestore(done *gitstore.Restored) {
	removed, earlier := view.Set(done.Removed), map[string]bool{}
	for _, f := range done.Earlier {
		earlier[f.Path] = true
	}
	var restored, older []string
	for _, path := range done.Restored {
		switch {
		case earlier[path]:
			older = append(older, path)
		case !removed[path]:
			restored = append(restored, path)
		}
	}
	q.list(restored, "restored", "modified")
	q.list(older, "restored from an earlier checkpoint, which has it", "modified")
	q.list(done.Removed, "removed", "deleted")
	q.list(done.Merged, "gets conflicts to resolve", "conflicted")
	q.list(done.Skipped, "changed since, stays as it is", "")
	q.list(done.InTheWay, "in the way of an untracked file, stays as it is", "conflicted")
	q.list(done.Unsaved, "changed since and not in the checkpoint, stays as it is", "")
	q.list(done.Sparse, "outside the sparse checkout or marked skip-worktree, is not written", "")
	q.list(done.Others, otherSession, "")
}

// list adds files to the plan.
func (q *Question) list(paths []string, what, class string) {
	room := max(0, maxPlanned-len(q.Files))
	for _, path := range paths[:min(len(paths), room)] {
		q.Files = append(q.Files, PlannedFile{line(cut(path, maxText)), what, class})
	}
	q.FilesLeft += max(0, len(paths)-room)
}

// planResume describes a resume: the verdict, and the restore of the files.
func planResume(v *visit, at place, q *Question) error {
	c := at.checkpoint()
	q.Heading = "Resume from this checkpoint?"
	j, err := v.judged(c)
	if err != nil {
		return err
	}
	shown := verdict(j, false)
	q.Verdict = &shown
	q.Text = append(q.Text, "The files of the checkpoint are restored, and the next save continues from it. You can undo the restore.")
	if q.Blocked, q.Commands = blocks(j); q.Blocked != "" {
		return nil
	}
	done, err := v.restoreFiles(c, false, true)
	if err != nil {
		return q.refuse(err)
	}
	q.listRestore(done)
	if len(q.Files) == 0 {
		q.Text = append(q.Text, "No file has to change.")
	}
	return nil
}

// resume restores the files of a checkpoint and records that work continues from it.
func resume(v *visit, at place) (Notice, error) {
	c := at.checkpoint()
	j, err := v.judged(c)
	if err != nil {
		return Notice{}, err
	}
	if why, commands := blocks(j); why != "" {
		return Notice{}, &gitstore.RefusedError{Reason: why, Hint: strings.Join(commands, "\n")}
	}
	done, err := v.restoreFiles(c, false, false)
	if err != nil {
		return Notice{}, err
	}
	text := "Resumed"
	if !j.Verdict.At.Complete {
		text += " at " + line(j.ContinueFrom())
	}
	n := v.restored(text+". "+count(len(done.Restored), "file")+" restored.", at, done)
	if err := v.repo.SetResumed(c, gitstore.ResumeOptions{Stale: j.Verdict.Old}); err != nil {
		n.Text = "The files are restored, but the resume is not recorded: " + line(err.Error())
	}
	return n, nil
}

// judged returns the assessment of a checkpoint that may be resumed.
func (v *visit) judged(c *gitstore.Checkpoint) (*view.Standing, error) {
	r, err := v.repo.ValidRecord(c)
	if err != nil {
		return nil, err
	}
	return v.repo.Judge(c, r)
}

// blocks returns why the page cannot resume, and commands that help, or "". The page
// answers the questions that --yes answers, and no others: it neither switches branches nor
// approves phases.
func blocks(s *view.Standing) (why string, commands []string) {
	v, this := s.Verdict, resumeCommand(s, false)
	at := func(check string) int {
		return slices.IndexFunc(v.Reasons, func(r freshness.Reason) bool { return r.Check == check && r.Action == freshness.PromptUser })
	}
	switch {
	case !v.CanResume:
		return "This checkpoint cannot be resumed.", nil
	case len(v.Awaiting) > 0:
		return "A phase waits for an approval: " + line(view.List(v.Awaiting)), []string{line(this + " --approve " + view.QuoteArg(v.Awaiting[0]))}
	case v.Other.State == freshness.BranchOther:
		return "The checkpoint is of another branch than the current branch " + line(v.Other.Name) + ".", []string{line(this)}
	case at("head") >= 0:
		return line(v.Reasons[at("head")].Message), hints(v.Reasons[at("head")].Hint)
	}
	return "", nil
}

func hints(hint string) (commands []string) {
	for text := range strings.SplitSeq(hint, "\n") {
		if text != "" {
			commands = append(commands, line(text))
		}
	}
	return commands
}
