package retain

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	Name: "undo", Usage: "revert the last operation of this worktree", Args: "[ISSUE|N]", Max: 1, Category: "Resume",
	Everyday: true, ShortHelp: []string{},
	Description: "Names the last operation of this worktree, and reverts it as a whole: files, branch,\n" +
		"checkpoints and archives. Operations are resume, restore, adopt, fork, prune, drop, archive,\n" +
		"finish, import, pin and unpin; `git checkpoint list --operations` shows them. With ISSUE it\n" +
		"reverts the last one of this issue, and with N the one with this number. It asks first if\n" +
		"commits or saves have followed. Paths that have changed since stay, also if a commit has\n" +
		"changed them. Later saves stay, with the checkpoints that they pruned. A dropped checkpoint that\n" +
		"a remote knows comes back under a new id. A second undo reverts the operation before that.\n" +
		"`git checkpoint redo` reverts the undo.",
	Examples: []string{"git checkpoint undo --dry-run", "git checkpoint undo 42"},
	New:      invoke.Bind((*undoOptions).flags, undoing.run),
}

// RedoCommand declares git checkpoint redo.
var RedoCommand = invoke.Command{
	Name: "redo", Usage: "revert the last undo", Args: "[ISSUE|N]", Max: 1, Category: "Resume",
	Description: "Repeats the operation that the last undo in this worktree reverted, with the rules of\n" +
		"undo. A second redo reverts the undo before that. After another operation there is nothing\n" +
		"to redo.",
	Examples: []string{"git checkpoint redo 42"},
	New:      invoke.Bind((*undoOptions).flags, redoing.run),
}

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
	name string
	of   string // noun of the operation, with the kind of the reverted operation as argument
	done string // announces the result, with kind and issue as arguments
}

var (
	undoing = undoer{name: "undo", of: "the %s", done: "took back the last %s of %s"}
	redoing = undoer{name: "redo", of: "the undo of the %s", done: "took back the last undo of %[2]s: %[1]s"}
)

func (u undoer) run(c *invoke.Invocation, o *undoOptions) error {
	if err := c.Open(); err != nil {
		return err
	}
	which, err := u.which(c)
	if err != nil {
		return err
	}
	if !o.dryRun && c.Store.Restorer.Pending(c.Ctx) {
		return u.finish(c, which, nil)
	}
	shown, err := c.Store.Restorer.Preview(c.Ctx, gitstore.Way(u.name), which)
	if errors.Is(err, gitstore.ErrNothingToUndo) {
		if _, redoErr := c.Store.Restorer.Preview(c.Ctx, gitstore.Way(redoing.name), which); redoErr == nil {
			return failure.Errorf(failure.Failure, redoing.command(which), "%w", err)
		}
	}
	if err != nil {
		return err
	}
	if o.dryRun {
		return showUndone(c, u, shown, true)
	}
	announceUndo(c, u, shown)
	if err := work.NoFileBack(u.name, shown); err != nil {
		return err
	}
	if !o.yes && shown.Commits+shown.Saves > 0 {
		if err := confirmUndo(c, u, which, shown); err != nil {
			return err
		}
	}
	return u.finish(c, which, shown)
}

// finish reverts the operation of a preview, or finishes one that was interrupted.
func (u undoer) finish(c *invoke.Invocation, which gitstore.Which, shown *gitstore.Undone) error {
	done, err := c.Store.Revert(c.Ctx, gitstore.Way(u.name), which, shown)
	if errors.Is(err, gitstore.ErrUnfinished) {
		return failure.Errorf(failure.Failure, u.command(which)+" --yes", "%w", err)
	}
	if err != nil {
		return err
	}
	return showUndone(c, u, done, false)
}

// which returns the operation that the command line selects.
func (u undoer) which(c *invoke.Invocation) (gitstore.Which, error) {
	if len(c.Line.Args) == 0 && c.Line.Common.Issue == "" {
		return gitstore.Which{}, nil
	}
	if len(c.Line.Args) > 0 {
		arg := c.Line.Args[0]
		if strings.HasPrefix(arg, "CP-") {
			return gitstore.Which{}, failure.Errorf(failure.Usage, "git checkpoint drop "+view.QuoteArg(arg),
				"%s: %s is a checkpoint, and a save is no operation", u.name, arg)
		}
		n, err := strconv.Atoi(arg)
		if err == nil && n > 0 && !c.Store.HasIssue(c.Ctx, checkpoint.Issue(arg)) {
			list, gone, err := c.Store.Operations(c.Ctx)
			isIt := func(e *gitstore.Operation) bool { return e.Number == n }
			if err == nil && slices.ContainsFunc(list, isIt) {
				return gitstore.Which{Number: n}, nil
			}
			if i := slices.IndexFunc(gone, isIt); i >= 0 && len(gone[i].Issues) > 0 {
				return gitstore.Which{}, failure.Errorf(failure.Refused, "git checkpoint resume "+view.IssueArg(gone[i].Issues[0])+" --worktree DIR",
					"%s %d: the worktree of this operation was removed", u.name, n)
			}
		}
	}
	issue, err := c.Issue()
	return gitstore.Which{Issue: issue}, err
}

func (u undoer) command(which gitstore.Which) string {
	switch {
	case which.Number > 0:
		return fmt.Sprintf("git checkpoint %s %d", u.name, which.Number)
	case which.Issue != "":
		return "git checkpoint " + u.name + " " + view.IssueArg(which.Issue)
	}
	return "git checkpoint " + u.name
}

func ofIssues(shown *gitstore.Undone) string {
	switch len(shown.Issues) {
	case 0:
		return "no issue"
	case 1:
		return "issue " + string(shown.Issues[0])
	}
	return "issues " + view.List(view.Few(view.Strings(shown.Issues), fewPaths))
}

// fewPaths is the number of paths or ids that the announcement of an undo names.
const fewPaths = 5

// announceUndo names the operation, its time and its paths or checkpoints, and what it cannot take
// back.
func announceUndo(c *invoke.Invocation, u undoer, shown *gitstore.Undone) {
	c.SkipIssue()
	what := fmt.Sprintf(u.of, shown.What)
	var list []string
	if shown.Restored != nil {
		if shown.Restored.ID != "" {
			what += " of " + string(shown.Restored.ID)
		}
		list = append(list, "no file")
		if len(shown.Restored.Restored) > 0 {
			list[0] = view.Files(shown.Restored.Restored, fewPaths)
		}
	}
	if ids := shown.IDs(); len(ids) > 0 {
		list = append(list, view.Plural(len(ids), "checkpoint")+": "+view.List(view.Few(view.Strings(ids), fewPaths)))
	}
	if shown.Branch != "" {
		list = append(list, "branch "+shown.Branch)
	}
	if shown.Deleted != "" {
		list = append(list, "deletes branch "+shown.Deleted)
	}
	if len(list) == 0 {
		list = append(list, "no checkpoint")
	}
	c.Infof("%s of %s: %s, %s (%s): %s", u.name, ofIssues(shown), what,
		shown.At.UTC().Format(time.RFC3339), view.Ago(shown.At, c.Env.Now()), strings.Join(list, "; "))
	for _, text := range shown.Lasting {
		c.Warnf("%s", text)
	}
}

func confirmUndo(c *invoke.Invocation, u undoer, which gitstore.Which, shown *gitstore.Undone) error {
	var since []string
	if shown.Commits > 0 {
		since = append(since, view.Plural(shown.Commits, "commit"))
	}
	if shown.Saves > 0 {
		since = append(since, view.Plural(shown.Saves, "save"))
	}
	question := fmt.Sprintf("%s followed since. Continue the %s? [y/N] ", strings.Join(since, " and "), u.name)
	yes, err := c.Confirm(question, u.command(which)+" --yes")
	if err == nil && !yes {
		c.Infof("nothing was changed")
		err = failure.Silent{Code: failure.None}
	}
	return err
}

// showUndone prints the reverted operation and its checkpoints and files. A dry run prints
// the planned actions.
func showUndone(c *invoke.Invocation, u undoer, done *gitstore.Undone, dryRun bool) error {
	if c.Line.JSON {
		r := view.Undo{
			Type: u.name, CheckpointIDs: view.Strings(done.IDs()), Result: done.What, DryRun: dryRun, At: done.At,
			Number: done.Number, Branch: done.Branch,
		}
		if len(done.Issues) > 0 {
			r.Issue = string(done.Issues[0])
		}
		if f := done.Restored; f != nil {
			r.CheckpointID, r.Restored, r.Removed = string(f.ID), view.QuotePaths(f.Restored), view.QuotePaths(f.Removed)
			r.Skipped, r.Committed = view.QuotePaths(f.Skipped), view.QuotePaths(f.Committed)
		}
		return c.WriteJSON(r)
	}
	brought, removed, putBack := "brought back", "removed", "put back"
	if dryRun {
		announceUndo(c, u, done)
		brought, removed, putBack = "would bring back", "would remove", "would put back"
	} else {
		c.SkipIssue()
		c.Infof(u.done, done.What, ofIssues(done))
	}
	for _, id := range done.Brought {
		c.Printf("%s %s\n", brought, id)
	}
	for _, id := range done.Removed {
		c.Printf("%s %s\n", removed, id)
	}
	if done.Restored == nil {
		return nil
	}
	gone, committed := view.Set(done.Restored.Removed), view.Set(done.Restored.Committed)
	for _, path := range done.Restored.Restored {
		c.Printf("%s %s\n", map[bool]string{false: putBack, true: removed}[gone[path]], view.QuotePath(path))
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
