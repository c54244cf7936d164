package work

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

// A Restoration is a restore that a user asked for, with its result. The command line and the page
// report its refusals with the same words and commands.
type Restoration struct {
	Request gitstore.RestoreRequest
	Paths   []string // of the command line, or relative to the root
	Root    string   // of the worktree
	Prefix  string   // working directory below the root
	Done    *gitstore.Restored
}

// Again returns the command that repeats the restore with another flag; "" adds no flag. The command
// names the issue, because the branch can be of another issue.
func (r *Restoration) Again(flag string) string { return r.command(flag, view.QuoteArgs(r.Paths)) }

// command returns the command with a flag and quoted paths.
func (r *Restoration) command(flag, paths string) string {
	req, cp := &r.Request, r.Request.Checkpoint
	words := []string{"git checkpoint restore", view.IssueArg(cp.Issue), view.QuoteArg(string(cp.ID))}
	for _, option := range []struct {
		set  bool
		flag string
	}{
		{flag != "", flag},
		{req.AnyBranch, "--yes"},
		{req.Staged, "--staged"},
		{req.Worktree, "--worktree"},
		{req.Exact, "--exact"},
		{req.Changed != "", "--changed " + string(req.Changed)},
	} {
		if option.set {
			words = append(words, option.flag)
		}
	}
	if paths != "" {
		words = append(words, "--", paths)
	}
	return strings.Join(words, " ")
}

// Refused adds the command that restores in spite of the reason to the hints of a refused restore.
// Other errors stay as they are.
func (r *Restoration) Refused(err error) error {
	var refused *gitstore.RefusedError
	if !errors.As(err, &refused) || refused.Flag == "" {
		return err
	}
	return failure.Errorf(failure.Refused, refused.Hint+"\n"+r.Again(refused.Flag), "%w", err)
}

// InTheWay returns the error of a restore that left paths alone because of existing files, or nil.
// If --force does not overwrite them, the user has to move them.
func (r *Restoration) InTheWay() error {
	done := r.Done
	if len(done.InTheWay) == 0 {
		return nil
	}
	paths := view.Plural(len(done.InTheWay), "path")
	isOurs := func(path string) bool {
		return !slices.ContainsFunc(done.Foreign, func(dir string) bool { return strings.HasPrefix(path, dir) })
	}
	if len(done.Foreign) > 0 && !slices.ContainsFunc(done.InTheWay, isOurs) {
		in := filepath.Join(r.Root, filepath.FromSlash(done.Foreign[0]))
		return failure.Errorf(failure.Refused, "git -C "+view.QuoteArg(in)+" status", "restore %s: %s of another repository stay as they are: %s", done.ID, paths, view.List(view.QuotePaths(done.Foreign)))
	}
	if done.Unknown {
		return failure.Errorf(failure.Refused, r.Again("--force"), "restore %s: %s in the way of files that git does not know were left alone", done.ID, paths)
	}
	return failure.Errorf(failure.Refused, "git status --short --ignored", "restore %s: %s in the way of other files were left alone: move these files away", done.ID, paths)
}

// LeftAlone returns the error of a restore that restored nothing because of files that changed since
// the checkpoint, or nil.
func (r *Restoration) LeftAlone() error {
	done := r.Done
	switch {
	case len(done.Skipped)+len(done.Others) == 0 || r.Request.Changed != "" || len(done.Restored) > 0:
		return nil
	case len(done.Skipped) == 0:
		return failure.Errorf(failure.Refused, "", "restore %s: nothing was restored: another session has changed the files", done.ID)
	}
	return failure.Errorf(failure.Refused, strings.Join(r.Answers(), "\n"), "restore %s: nothing was restored: %s changed since the checkpoint", done.ID, view.Plural(len(done.Skipped), "file"))
}

// Answers returns the commands that merge or replace the files that changed since the checkpoint.
func (r *Restoration) Answers() []string {
	if len(r.Done.Skipped) == 0 || r.Request.Changed != "" {
		return nil
	}
	return []string{r.Again("--changed merge"), r.Again("--changed checkpoint")}
}

// OfOthers returns the command that restores the files that another session has changed, or "".
func (r *Restoration) OfOthers() string {
	if len(r.Done.Others) == 0 || r.Request.Changed != "" {
		return ""
	}
	return r.command("", failure.PathArgs(r.Prefix, r.Done.Others...))
}

// Nothing returns a message for a restore that found the files as they were saved, or "". Such a
// restore records nothing, so undo does not revert it.
func (r *Restoration) Nothing() string {
	done := r.Done
	if len(done.Restored)+len(done.Skipped)+len(done.InTheWay)+len(done.Sparse)+len(done.Others)+len(done.Unsaved)+len(done.Committed) > 0 {
		return ""
	}
	if len(done.Later) > 0 {
		return "nothing to restore: the files of " + string(done.ID) + " are here, and others came later"
	}
	return "nothing to restore: the files of " + string(done.ID) + " are here"
}

// ShowConflicts is the command that shows the conflicts of unmerged files.
const ShowConflicts = "git diff"

// Conflicts returns an error if a restore left conflicts, as git merge does. The result can be nil.
func Conflicts(command string, done *gitstore.Restored) error {
	if done == nil || len(done.Merged) == 0 {
		return nil
	}
	return failure.Errorf(failure.Failure, ShowConflicts, "%s %s: %s with conflicts to resolve", command, done.ID, view.Plural(len(done.Merged), "file"))
}

// SwitchBranch switches the worktree to a branch, on which the work of a checkpoint goes on. It
// fails if git refuses, or if a restore was interrupted or is under way in this worktree.
func SwitchBranch(ctx context.Context, s *gitstore.Store, cp *gitstore.Checkpoint, name string) (done gitstore.Switch, err error) {
	switch {
	case s.Restorer.IsUnderWay():
		return done, failure.Errorf(failure.Refused, "", "switch to branch %s: a restore is under way in this worktree", name)
	case s.Restorer.Pending(ctx):
		return done, failure.Errorf(failure.Refused, "git checkpoint restore --continue\ngit checkpoint restore --abort",
			"switch to branch %s: a restore was interrupted in this worktree", name)
	}
	if done, err = s.Facts.SwitchBranch(ctx, cp, name); err != nil {
		return done, fmt.Errorf("resume %s: %w", cp.ID, err)
	}
	return done, nil
}

// SwitchBack switches the worktree back after a resume that came to nothing. If files of the
// checkpoint are here, because its restore cannot be reverted, HEAD stays.
func SwitchBack(ctx context.Context, s *gitstore.Store, done gitstore.Switch) (to string, err error) {
	if s.Restorer.Pending(ctx) {
		return "", nil
	}
	return s.Facts.SwitchBack(ctx, done)
}

// NoFileBack returns the error of an undo or a redo, given by its name, that can put no file back,
// or nil.
func NoFileBack(name string, shown *gitstore.Undone) error {
	r := shown.Restored
	if r == nil || len(r.Restored) > 0 || len(r.Skipped) <= len(r.Committed) {
		return nil
	}
	return failure.Errorf(failure.Refused, "git status --short", "%s: no file can be put back: %s changed since the restore; the operation stays the last one", name, view.Plural(len(r.Skipped), "file"))
}
