package resume

import (
	"cmp"
	"fmt"
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
	Description: "Goes back to the files as they were at the save. Content that is stored in a checkpoint or\n" +
		"in the history is replaced. A file with other content stays and is listed, unless --changed\n" +
		"is given; --changed merge merges the checkpoint into the present files instead. A file that\n" +
		"came later is removed only if a checkpoint has it. What only commits have since is kept.\n" +
		"`git checkpoint undo` reverts the restore.",
	Examples: []string{
		"git checkpoint restore 42 --dry-run",
		"git checkpoint restore 42 latest~1 -- src/tokens.py",
		"git checkpoint restore 42 --worktree -- src",
		"git checkpoint restore --abort",
	},
	ReadsOnly: true, ChangesFiles: true,
	New: invoke.Bind((*restoreOptions).flags, runRestore),
}

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
	r := &work.Restoration{Request: req, Paths: c.Line.Paths, Root: c.Store.Root(), Prefix: c.Store.Prefix()}
	t := c.TickFiles("restore: writing files")
	done, err := c.Store.Restore(c.Ctx, req)
	t.End()
	if err != nil {
		return r.Refused(err)
	}
	r.Done = done
	tellMerge(c, done)
	c.WarnLocalCommits(req.Checkpoint)
	left, nothing := leftOut(c, &req), r.Nothing()
	if nothing != "" {
		c.Infof("%s", nothing)
	}
	if c.Line.JSON {
		var sessions []view.SessionFile
		for _, p := range done.Others {
			id := done.Sessions[p]
			sessions = append(sessions, view.SessionFile{Path: view.QuotePath(p), SessionID: id, SessionAgent: work.AgentOf(c, id)})
		}
		err = c.WriteJSON(view.Restore{
			Type: "restore", DryRun: req.DryRun, CheckpointID: string(done.ID),
			Restored: view.QuotePaths(done.Restored), Removed: view.QuotePaths(done.Removed),
			Skipped: view.QuotePaths(done.Skipped), InTheWay: view.QuotePaths(done.InTheWay), Sparse: view.QuotePaths(done.Sparse), OtherSessions: view.QuotePaths(done.Others), Sessions: sessions,
			LeftOut: left, Conflicts: view.QuotePaths(done.Merged), Undo: done.Undo, Hints: nextCommands(done), Nothing: nothing, MovedPoint: done.MovedPoint,
		})
	} else {
		showRestored(c, done, req.DryRun)
		for _, text := range work.LeftOutTexts(left) {
			c.Warnf("%s", text)
		}
		if done.MovedPoint {
			p, err := c.Store.Point(c.Ctx, cp.Issue)
			if err != nil || !p.WentBack() {
				c.Infof("the work goes on from the newest checkpoint again")
			} else {
				c.Infof("the work goes on from %s; this command ends that: git checkpoint restore %s latest", p.ID, view.IssueArg(cp.Issue))
			}
		}
	}
	if err = cmp.Or(err, r.InTheWay()); err != nil {
		return err
	}
	return cmp.Or(work.Conflicts(c.Line.Name, done), leftAlone(c, r))
}

// leftAlone prints the commands that restore the files that stay. If the restore did nothing because
// of them, it returns an error.
func leftAlone(c *invoke.Invocation, r *work.Restoration) error {
	if hint := r.OfOthers(); hint != "" && !c.Line.JSON {
		c.Infof("hint: %s", hint)
	}
	if !r.Request.DryRun {
		if err := r.LeftAlone(); err != nil {
			return err
		}
	}
	if !c.Line.JSON {
		for _, hint := range r.Answers() {
			c.Infof("hint: %s", hint)
		}
	}
	return nil
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

// nextCommands returns the commands to type after a restore, for scripts.
func nextCommands(done *gitstore.Restored) (next []string) {
	if len(done.Merged) > 0 {
		next = append(next, work.ShowConflicts)
	}
	if len(done.Merging) == 1 {
		next = append(next, mergeAgain(done.Merging[0]))
	}
	if done.Undo != "" {
		next = append(next, undoCommand(done))
	}
	return next
}

// mergeAgain returns the command that makes the next commit a merge with another commit.
func mergeAgain(other string) string { return "git update-ref MERGE_HEAD " + view.Shell(other) }

func finishRestore(c *invoke.Invocation, o *restoreOptions) error {
	if o.finish && o.takeBack {
		return failure.Usagef("restore: --continue and --abort cannot be combined")
	}
	interrupted := c.Store.Restorer
	act, what := interrupted.Continue, "finished"
	if o.takeBack {
		act, what = interrupted.Abort, "taken back"
	}
	left := interrupted.StaleIndexLock()
	was, err := act(c.Ctx)
	if err != nil {
		return err
	}
	if !was {
		hint := ""
		if left != "" {
			c.Infof("removed %s, which a killed restore had left", view.QuotePath(left))
		}
		list, _, _ := c.Store.Operations(c.Ctx)
		changedFiles := func(e *gitstore.Operation) bool {
			return e.State == gitstore.OperationDone && e.HasFiles() && len(e.Issues) > 0
		}
		if i := slices.IndexFunc(list, changedFiles); i >= 0 {
			hint = "git checkpoint undo " + view.IssueArg(list[i].Issues[0])
		}
		return failure.Errorf(failure.Refused, hint, "restore: no restore was interrupted in this worktree")
	}
	c.Infof("the interrupted restore is %s", what)
	if c.Line.JSON {
		return c.WriteJSON(view.Restore{Type: "restore"})
	}
	return nil
}

func restoredFiles(c *invoke.Invocation, done *gitstore.Restored, dryRun bool) []view.RestoredFile {
	return view.RestoredFiles(done, dryRun, func(session string) string { return work.AgentOf(c, session) })
}

func showRestored(c *invoke.Invocation, done *gitstore.Restored, dryRun bool) {
	var restored, others strings.Builder // one write for many files
	for _, f := range restoredFiles(c, done, dryRun) {
		switch f.Kind {
		case view.FileRestored, view.FileRemoved:
			fmt.Fprintf(&restored, "%s %s\n", f.What, view.QuotePath(f.Path))
		default:
			fmt.Fprintf(&others, "%s: %s\n", view.Clean(f.What), view.QuotePath(f.Path))
		}
	}
	c.Printf("%s%s", restored.String(), others.String())
	for _, hint := range undoHints(done) {
		c.Infof("hint: %s", hint)
	}
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

func undoCommand(done *gitstore.Restored) string {
	return "git checkpoint undo " + view.IssueArg(done.Issue)
}
