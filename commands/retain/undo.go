package retain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// UndoCommand declares git checkpoint undo.
var UndoCommand = invoke.Command{
	Name: "undo", Usage: "revert the last restore, prune, drop or archive", Args: "[ISSUE]", Max: 1, Category: "Resume",
	Everyday: true, ShortHelp: []string{},
	Description: "Names the last restore, prune, drop or archive of the issue in this clone, and reverts\n" +
		"it. It asks first if commits or saves have followed. Paths that have changed since the\n" +
		"restore stay, also if a commit has changed them. Later saves stay, with the checkpoints\n" +
		"that they pruned. A second undo reverts the operation before that.\n" +
		"`git checkpoint redo` reverts the undo.",
	Examples: []string{"git checkpoint undo 42 --dry-run", "git checkpoint undo 42"},
	New:      invoke.Bind((*undoOptions).flags, undoing.run),
}

// RedoCommand declares git checkpoint redo.
var RedoCommand = invoke.Command{
	Name: "redo", Usage: "revert the last undo", Args: "[ISSUE]", Max: 1, Category: "Resume",
	Description: "Repeats the restore, prune, drop or archive that the last undo of the issue in this clone\n" +
		"reverted, with the rules of undo. A second redo reverts the undo before that. After\n" +
		"another restore, prune, drop or archive there is nothing to redo.",
	Examples: []string{"git checkpoint redo 42"},
	New:      invoke.Bind((*undoOptions).flags, redoing.run),
}

// undoOptions holds the flags of undo and redo.
type undoOptions struct {
	dryRun bool
	yes    bool // do not ask
}

func (o *undoOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "print the actions without doing them", Destination: &o.dryRun},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask if commits or saves have followed", Destination: &o.yes},
	}
}

// An undoer holds the parts in which undo and redo differ.
type undoer struct {
	name     string
	of       string // noun of the operation, with the kind of the reverted operation as argument
	done     string // announces the result, with kind and issue as arguments
	removes  bool   // ids are removed, not brought back
	finished func(*gitstore.Store, context.Context, checkpoint.Issue) (*gitstore.Undone, error)
	preview  func(*gitstore.Store, context.Context, checkpoint.Issue) (*gitstore.Undone, error)
	act      func(*gitstore.Store, context.Context, checkpoint.Issue, *gitstore.Undone) (*gitstore.Undone, error)
}

var (
	undoing = undoer{
		name: "undo", of: "the %s", done: "took back the last %s of issue %s",
		finished: (*gitstore.Store).FinishedUndo, preview: (*gitstore.Store).PreviewUndo, act: (*gitstore.Store).UndoShown,
	}
	redoing = undoer{
		name: "redo", of: "the undo of the %s", done: "took back the last undo of issue %[2]s: %[1]s", removes: true,
		finished: (*gitstore.Store).FinishedRedo, preview: (*gitstore.Store).PreviewRedo, act: (*gitstore.Store).RedoShown,
	}
)

func (u undoer) run(c *invoke.Invocation, o *undoOptions) error {
	if err := c.Open(); err != nil {
		return err
	}
	issue, err := c.Issue()
	if err != nil {
		return err
	}
	if !o.dryRun {
		done, err := u.finished(c.Store, c.Ctx, issue)
		if err != nil {
			return err
		}
		if done != nil {
			return showUndone(c, u, issue, done, false)
		}
	}
	shown, err := u.preview(c.Store, c.Ctx, issue)
	if err != nil {
		return err
	}
	if o.dryRun {
		return showUndone(c, u, issue, shown, true)
	}
	announceUndo(c, u, issue, shown)
	if err := work.NoFileBack(u.name, shown); err != nil {
		return err
	}
	if !o.yes && shown.Commits+shown.Saves > 0 {
		if err := confirmUndo(c, u, issue, shown); err != nil {
			return err
		}
	}
	done, err := u.act(c.Store, c.Ctx, issue, shown)
	if errors.As(err, new(*gitstore.UnfinishedError)) {
		return failure.Errorf(failure.Failure, u.command(issue)+" --yes", "%w", err)
	}
	if err != nil {
		return err
	}
	return showUndone(c, u, issue, done, false)
}

func (u undoer) command(issue checkpoint.Issue) string {
	return "git checkpoint " + u.name + " " + view.IssueArg(issue)
}

// fewPaths is the number of paths or ids that the announcement of an undo names.
const fewPaths = 5

// announceUndo names the operation, its time and its paths or checkpoints.
func announceUndo(c *invoke.Invocation, u undoer, issue checkpoint.Issue, shown *gitstore.Undone) {
	c.SkipIssue()
	what := fmt.Sprintf(u.of, shown.What)
	list := view.Plural(len(shown.IDs), "checkpoint") + ": " + view.List(view.Few(view.Strings(shown.IDs), fewPaths))
	if shown.Restored != nil {
		what += " of " + string(shown.Restored.ID)
		if list = "no file"; len(shown.Restored.Restored) > 0 {
			list = view.Files(shown.Restored.Restored, fewPaths)
		}
	}
	c.Infof("%s of issue %s: %s, %s (%s): %s", u.name, issue, what,
		shown.At.UTC().Format(time.RFC3339), view.Ago(shown.At, c.Env.Now()), list)
}

// confirmUndo asks whether to undo an operation that commits or saves have followed.
func confirmUndo(c *invoke.Invocation, u undoer, issue checkpoint.Issue, shown *gitstore.Undone) error {
	var since []string
	if shown.Commits > 0 {
		since = append(since, view.Plural(shown.Commits, "commit"))
	}
	if shown.Saves > 0 {
		since = append(since, view.Plural(shown.Saves, "save"))
	}
	question := fmt.Sprintf("%s followed since. Continue the %s? [y/N] ", strings.Join(since, " and "), u.name)
	yes, err := c.Confirm(question, u.command(issue)+" --yes")
	if err == nil && !yes {
		c.Infof("nothing was changed")
		err = failure.Silent{Code: failure.None}
	}
	return err
}

// showUndone prints the reverted operation and its checkpoints and files. A dry run prints
// the planned actions.
func showUndone(c *invoke.Invocation, u undoer, issue checkpoint.Issue, done *gitstore.Undone, dryRun bool) error {
	if c.Line.JSON {
		return c.WriteJSON(undoRecord(u, issue, done, dryRun))
	}
	if dryRun {
		announceUndo(c, u, issue, done)
	} else {
		c.SkipIssue()
		c.Infof(u.done, done.What, issue)
	}
	verb := map[bool]string{false: "brought back", true: "removed"}[u.removes]
	putBack, removedFile := "put back", "removed"
	if dryRun {
		verb = map[bool]string{false: "would bring back", true: "would remove"}[u.removes]
		putBack, removedFile = "would put back", "would remove"
	}
	for _, id := range done.IDs {
		c.Printf("%s %s\n", verb, id)
	}
	if done.Restored == nil {
		return nil
	}
	removed, committed := view.Set(done.Restored.Removed), view.Set(done.Restored.Committed)
	for _, path := range done.Restored.Restored {
		c.Printf("%s %s\n", map[bool]string{false: putBack, true: removedFile}[removed[path]], view.QuotePath(path))
	}
	for _, path := range done.Restored.Skipped {
		if committed[path] {
			c.Warnf("a commit has changed %s since: it stays as it is", view.QuotePath(path))
		} else {
			c.Warnf("%s changed since and stays as it is", view.QuotePath(path))
		}
	}
	return nil
}

func undoRecord(u undoer, issue checkpoint.Issue, done *gitstore.Undone, dryRun bool) view.Undo {
	r := view.Undo{
		Type: u.name, Issue: string(issue), CheckpointIDs: view.Strings(done.IDs), Result: done.What,
		DryRun: dryRun, At: done.At,
	}
	if done.Restored != nil {
		r.CheckpointID = string(done.Restored.ID)
		r.Restored, r.Removed = view.QuotePaths(done.Restored.Restored), view.QuotePaths(done.Restored.Removed)
		r.Skipped, r.Committed = view.QuotePaths(done.Restored.Skipped), view.QuotePaths(done.Restored.Committed)
	}
	return r
}
