package resume

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// RestoreCommand declares git checkpoint restore.
var RestoreCommand = invoke.Command{
	Name: "restore", Usage: "restore the files of a checkpoint", Args: "[ISSUE] [ID] [-- PATH...]", Max: 2, Category: "Resume",
	Everyday: true, ShortHelp: []string{"dry-run", "continue", "abort"},
	Description: "Restores the files as they were at the save. Content that a checkpoint of the issue has\n" +
		"is replaced. Other changes since the save are merged if both sides changed a file and the\n" +
		"changes fit; otherwise the file stays as it is and is listed, unless --changed is given.\n" +
		"A file that came later is removed only if a checkpoint has it. Changes of commits are kept.\n" +
		"`git checkpoint undo` reverts the restore.",
	Examples: []string{
		"git checkpoint restore 42 --dry-run",
		"git checkpoint restore 42 latest~1 -- src/tokens.py",
		"git checkpoint restore 42 --worktree -- src",
		"git checkpoint restore --abort",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*restoreOptions).flags, runRestore),
}

// restoreOptions are the flags of restore.
type restoreOptions struct {
	gitstore.RestoreOptions
	yes      bool // restore on another branch too
	finish   bool // finish an interrupted restore
	takeBack bool // take an interrupted restore back
}

func (o *restoreOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "print the actions without doing them", Destination: &o.DryRun},
		&cli.BoolFlag{Name: "staged", Usage: "restore the staging area only", Destination: &o.Staged},
		&cli.BoolFlag{Name: "worktree", Usage: "restore the worktree only", Destination: &o.Worktree},
		&cli.BoolFlag{Name: "exact", Usage: "also remove files that came later and that no checkpoint has", Destination: &o.Exact},
		&cli.BoolFlag{Name: "force", Usage: "use the checkpoint's version of every file, at any HEAD", Destination: &o.Force},
		&cli.BoolFlag{Name: "yes", Usage: "restore also if HEAD is on another branch than the checkpoint's", Destination: &o.yes},
		changedFlag((*string)(&o.Changed)),
		invoke.TurnFlag(),
		&cli.BoolFlag{Name: "continue", Usage: "finish a restore that was interrupted", Destination: &o.finish},
		&cli.BoolFlag{Name: "abort", Usage: "revert an interrupted restore", Destination: &o.takeBack},
	}
}

func changedFlag(choice *string) cli.Flag {
	return &cli.StringFlag{Name: "changed", Usage: "version of files that have changed since: `mine`, checkpoint or merge", Destination: choice}
}

func runRestore(c *invoke.Invocation, o *restoreOptions) error {
	if _, err := gitstore.ParseChanged(string(o.Changed)); err != nil {
		return failure.Usagef("restore: --changed: %w", err)
	}
	if err := c.Open(); err != nil {
		return err
	}
	if o.finish || o.takeBack {
		return finishRestore(c, o)
	}
	cp, _, err := c.PointArg()
	if err != nil {
		return err
	}
	o.Asked = true
	req := gitstore.RestoreRequest{Checkpoint: cp, AnyBranch: o.yes, Branch: c.DetachedBranch(), Request: o.RestoreOptions}
	for _, name := range c.Line.Paths {
		p, err := c.RootPath(name)
		if err != nil {
			return failure.Usagef("restore: %w", err)
		}
		req.Paths = append(req.Paths, p)
	}
	t := c.TickFiles("restore: writing files")
	done, err := c.Store.Restore(c.Ctx, req)
	t.End()
	if err != nil {
		return notRestored(c, &req, err)
	}
	tellMerge(c, done)
	c.WarnLocalCommits(req.Checkpoint)
	left, nothing := leftOut(c, &req), nothingRestored(done)
	if nothing != "" {
		c.Infof("%s", nothing)
	}
	if c.Line.JSON {
		err = c.WriteJSON(view.Restore{
			Type: "restore", DryRun: req.DryRun, CheckpointID: string(done.ID),
			Restored: view.QuotePaths(done.Restored), Removed: view.QuotePaths(done.Removed),
			Skipped: view.QuotePaths(done.Skipped), InTheWay: view.QuotePaths(done.InTheWay), Sparse: view.QuotePaths(done.Sparse), Earlier: earlierRecords(done), OtherSessions: view.QuotePaths(done.Others), Sessions: sessionFiles(c, done),
			LeftOut: view.LeftOutRecords(left), Conflicts: view.QuotePaths(done.Merged), Undo: done.Undo, Hints: nextCommands(done), Nothing: nothing, MovedPoint: done.MovedPoint,
		})
	} else {
		showRestored(c, done, req.DryRun)
		for _, text := range work.LeftOutTexts(left) {
			c.Warnf("%s", text)
		}
		tellPoint(c, req.Checkpoint.Issue, done)
	}
	if err == nil && len(done.InTheWay) > 0 {
		return restoreInTheWay(c, &req, done)
	}
	return cmp.Or(err, conflicts(c, done), leftAlone(c, &req, done))
}

// leftOut returns the files that a limit, or an error, has kept out of the checkpoint, so that a
// restore of them restores nothing.
func leftOut(c *invoke.Invocation, req *gitstore.RestoreRequest) []checkpoint.Skipped {
	r, err := c.Store.Record(req.Checkpoint)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(r.Snapshot().LeftOut(), func(f checkpoint.Skipped) bool {
		return len(req.Paths) > 0 && !slices.Contains(req.Paths, f.Path)
	})
}

// sessionFiles returns the records of the files of other sessions.
func sessionFiles(c *invoke.Invocation, done *gitstore.Restored) (files []view.SessionFile) {
	for _, p := range done.Others {
		id := done.Sessions[p]
		files = append(files, view.SessionFile{Path: view.QuotePath(p), SessionID: id, SessionAgent: work.AgentOf(c, id)})
	}
	return files
}

// tellPoint prints from which checkpoint the work goes on, if the restore has changed it.
func tellPoint(c *invoke.Invocation, issue checkpoint.Issue, done *gitstore.Restored) {
	if !done.MovedPoint {
		return
	}
	p, err := c.Store.Point(c.Ctx, issue)
	if err != nil || !p.WentBack() {
		c.Infof("the work goes on from the newest checkpoint again")
		return
	}
	c.Infof("the work goes on from %s; this command ends that: git checkpoint restore %s latest", p.ID, view.IssueArg(issue))
}

// leftAlone names the flag that replaces files that changed since the checkpoint. If the
// restore did nothing because of them, it returns an error.
func leftAlone(c *invoke.Invocation, req *gitstore.RestoreRequest, done *gitstore.Restored) error {
	if done == nil || len(done.Skipped)+len(done.Others) == 0 || req.Changed != "" {
		return nil
	}
	again := *req
	again.DryRun = false
	merge, replace := restoreAgain(c, &again, "--changed merge"), restoreAgain(c, &again, "--changed checkpoint")
	if len(done.Others) > 0 && !c.Line.JSON {
		paths := view.QuotePaths(done.Others)
		c.Infof("hint: %s -- %s", restoreAgain(c, &again, ""), strings.Join(paths, " "))
	}
	if len(done.Skipped) == 0 {
		if len(done.Restored) == 0 && !req.DryRun {
			return failure.Errorf(failure.Refused, "", "restore %s: nothing was restored: another session has changed the files", done.ID)
		}
		return nil
	}
	if len(done.Restored) == 0 && !req.DryRun {
		return failure.Errorf(failure.Refused, merge+"\n"+replace, "restore %s: nothing was restored: %s changed since the checkpoint", done.ID, view.Plural(len(done.Skipped), "file"))
	}
	if !c.Line.JSON {
		c.Infof("hint: %s", merge)
		c.Infof("hint: %s", replace)
	}
	return nil
}

// nothingRestored returns a message for a restore that found the files as they were saved, or "".
// Such a restore records nothing, so undo does not revert it.
func nothingRestored(done *gitstore.Restored) string {
	if len(done.Restored)+len(done.Skipped)+len(done.InTheWay)+len(done.Sparse)+len(done.Others) > 0 {
		return ""
	}
	if len(done.Later) > 0 {
		return "nothing to restore: the files of " + string(done.ID) + " are here, and others came later"
	}
	return "nothing to restore: the files of " + string(done.ID) + " are here"
}

// conflicts returns an error if the restore left conflicts, as git merge does.
func conflicts(c *invoke.Invocation, done *gitstore.Restored) error {
	if done == nil || len(done.Merged) == 0 {
		return nil
	}
	return failure.Errorf(failure.Failure, showConflicts, "%s %s: %s with conflicts to resolve", c.Line.Name, done.ID, view.Plural(len(done.Merged), "file"))
}

// showConflicts shows the conflicts of unmerged files.
const showConflicts = "git diff"

// earlierRecords returns the files that came from earlier checkpoints, for scripts.
func earlierRecords(done *gitstore.Restored) []view.EarlierFile {
	files := make([]view.EarlierFile, len(done.Earlier))
	for i, f := range done.Earlier {
		files[i] = view.EarlierFile{Path: view.QuotePath(f.Path), CheckpointID: string(f.ID)}
	}
	return files
}

// nextCommands returns the commands to type after a restore, for scripts.
func nextCommands(done *gitstore.Restored) (next []string) {
	if len(done.Merged) > 0 {
		next = append(next, showConflicts)
	}
	if len(done.Merging) == 1 {
		next = append(next, mergeAgain(done.Merging[0]))
	}
	if done.Undo != "" {
		next = append(next, undoCommand(done.Undo))
	}
	return next
}

// mergeAgain returns the command that makes the next commit a merge with another commit.
func mergeAgain(other string) string { return "git update-ref MERGE_HEAD " + view.Shell(other) }

// notRestored adds the command that restores in spite of the reason to the hints of a
// refused restore.
func notRestored(c *invoke.Invocation, req *gitstore.RestoreRequest, err error) error {
	var refused *gitstore.RefusedError
	if !errors.As(err, &refused) || refused.Flag == "" {
		return err
	}
	return failure.Errorf(failure.Refused, refused.Hint+"\n"+restoreAgain(c, req, refused.Flag), "%w", err)
}

// restoreInTheWay returns the error of a restore that left paths alone because of existing
// files. If --force does not overwrite them, the user has to move them.
func restoreInTheWay(c *invoke.Invocation, req *gitstore.RestoreRequest, done *gitstore.Restored) error {
	paths := view.Plural(len(done.InTheWay), "path")
	if len(done.Foreign) > 0 && !slices.ContainsFunc(done.InTheWay, func(p string) bool { return !isBelowAny(p, done.Foreign) }) {
		in := filepath.Join(c.Store.Root(), filepath.FromSlash(done.Foreign[0]))
		return failure.Errorf(failure.Refused, "git -C "+view.QuoteArg(in)+" status", "restore %s: %s of another repository stay as they are: %s", done.ID, paths, view.List(view.QuotePaths(done.Foreign)))
	}
	if done.Unknown {
		return failure.Errorf(failure.Refused, restoreAgain(c, req, "--force"), "restore %s: %s in the way of files that git does not know were left alone", done.ID, paths)
	}
	return failure.Errorf(failure.Refused, "git status --short --ignored", "restore %s: %s in the way of other files were left alone: move these files away", done.ID, paths)
}

// isBelowAny reports whether a path is below one of the directories, or equal to one.
func isBelowAny(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name, dir) })
}

// restoreAgain returns the command that repeats a restore with another flag. It names the
// issue, because the branch can be of another issue.
func restoreAgain(c *invoke.Invocation, req *gitstore.RestoreRequest, flag string) string {
	cp := req.Checkpoint
	words := []string{"git checkpoint restore", view.IssueArg(cp.Issue), view.QuoteArg(string(cp.ID))}
	if flag != "" {
		words = append(words, flag)
	}
	if req.AnyBranch {
		words = append(words, "--yes")
	}
	if req.Staged {
		words = append(words, "--staged")
	}
	if req.Worktree {
		words = append(words, "--worktree")
	}
	if req.Exact {
		words = append(words, "--exact")
	}
	if req.Changed != "" {
		words = append(words, "--changed "+string(req.Changed))
	}
	if len(c.Line.Paths) > 0 {
		words = append(words, "--")
		for _, name := range c.Line.Paths {
			words = append(words, view.QuoteArg(name))
		}
	}
	return strings.Join(words, " ")
}

// finishRestore runs --continue or --abort.
func finishRestore(c *invoke.Invocation, o *restoreOptions) error {
	if o.finish && o.takeBack {
		return failure.Usagef("restore: --continue and --abort cannot be combined")
	}
	interrupted := c.Store.InterruptedRestore
	act, what := interrupted.Continue, "finished"
	if o.takeBack {
		act, what = interrupted.Abort, "taken back"
	}
	left := interrupted.IndexLock()
	was, err := act(c.Ctx)
	if err != nil {
		return err
	}
	if !was {
		hint := ""
		if left != "" {
			c.Infof("removed %s, which a killed restore had left", view.QuotePath(left))
		}
		if issue := c.Store.LastRestored(c.Ctx); issue != "" {
			hint = "git checkpoint undo " + view.IssueArg(issue)
		}
		return failure.Errorf(failure.Refused, hint, "restore: no restore was interrupted in this worktree")
	}
	c.Infof("the interrupted restore is %s", what)
	if c.Line.JSON {
		return c.WriteJSON(view.Restore{Type: "restore"})
	}
	return nil
}

// otherSession describes a path of another session that works in the same worktree.
const otherSession = "changed by another session in this worktree, %s, left as it is"

// notInCheckpoint describes a path that was as in HEAD at the save, and has changed since.
const notInCheckpoint = "changed since and not in the checkpoint, left as it is"

// outsideSparse describes a path that a restore does not write.
const outsideSparse = "outside the sparse checkout or marked skip-worktree, not written"

// showRestored prints the result of every path.
func showRestored(c *invoke.Invocation, done *gitstore.Restored, dryRun bool) {
	verbs := map[bool]string{false: "restored", true: "removed"}
	if dryRun {
		verbs = map[bool]string{false: "would restore", true: "would remove"}
	}
	removed := view.Set(done.Removed)
	var restoredLines strings.Builder // one write for many files
	for _, p := range done.Restored {
		fmt.Fprintf(&restoredLines, "%s %s\n", verbs[removed[p]], view.QuotePath(p))
	}
	if restoredLines.Len() > 0 {
		c.Printf("%s", restoredLines.String())
	}
	for _, p := range done.Skipped {
		c.Printf("changed since, left as it is: %s\n", view.QuotePath(p))
	}
	for _, p := range done.InTheWay {
		c.Printf("in the way, left as it is: %s\n", view.QuotePath(p))
	}
	for _, p := range done.Others {
		c.Printf("%s: %s\n", view.Clean(fmt.Sprintf(otherSession, view.SessionName(done.Sessions[p], work.AgentOf(c, done.Sessions[p])))), view.QuotePath(p))
	}
	for _, p := range done.Unsaved {
		c.Printf("%s: %s\n", notInCheckpoint, view.QuotePath(p))
	}
	for _, p := range done.Sparse {
		c.Printf("%s: %s\n", outsideSparse, view.QuotePath(p))
	}
	for _, line := range earlierFiles(done, 8) {
		c.Printf("%s\n", line)
	}
	restored := view.Set(done.Restored)
	for _, p := range done.Later {
		if !restored[p] {
			c.Printf("came later: %s\n", view.QuotePath(p))
		}
	}
	for _, p := range done.Merged {
		c.Printf("conflicts to resolve: %s\n", view.QuotePath(p))
	}
	if done.Undo != "" {
		c.Infof("hint: %s", undoCommand(done.Undo))
	}
}

// earlierFiles returns a line for each earlier checkpoint from which files came, with at most few
// of their paths.
func earlierFiles(done *gitstore.Restored, few int) (lines []string) {
	var ids []checkpoint.ID
	paths := map[checkpoint.ID][]string{}
	for _, f := range done.Earlier {
		if paths[f.ID] == nil {
			ids = append(ids, f.ID)
		}
		paths[f.ID] = append(paths[f.ID], f.Path)
	}
	for _, id := range ids {
		lines = append(lines, "from the earlier "+string(id)+": "+view.Files(paths[id], few))
	}
	return lines
}

// tellMerge warns if the files of a merge were restored without the merge state: the next
// commit would lack the second parent.
func tellMerge(c *invoke.Invocation, done *gitstore.Restored) {
	if len(done.Merging) == 0 {
		return
	}
	c.Warnf("the checkpoint was saved in a merge with %s, and no merge is under way", strings.Join(done.Merging, ", "))
	if len(done.Merging) == 1 {
		c.Infof("hint: %s", mergeAgain(done.Merging[0]))
	}
}

// undoCommand returns the command that takes a restore back, by the ref name of its safety
// snapshot.
func undoCommand(ref string) string {
	rest := strings.TrimPrefix(ref, "refs/git-checkpoint/undo/")
	name, _, _ := strings.Cut(rest, "/")
	i, err := checkpoint.IssueFromRef(name)
	if err != nil {
		i = checkpoint.Issue(name)
	}
	return "git checkpoint undo " + view.IssueArg(i)
}
