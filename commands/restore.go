package commands

import (
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

var restoreCommand = command{
	name: "restore", usage: "put a checkpoint's files back", args: "[ISSUE] [ID] [-- PATH...]", max: 2, category: "Resume",
	description: "Touches only what the checkpoint changed against its own HEAD. Files that were\n" +
		"changed since stay as they are and are listed, unless --changed says otherwise.\n" +
		"What is replaced can be taken back with `git checkpoint undo`.",
	examples: []string{
		"git checkpoint restore 42 --dry-run",
		"git checkpoint restore 42 latest~1 -- src/tokens.py",
		"git checkpoint restore 42 --worktree -- src",
		"git checkpoint restore --abort",
	},
	flags: restoreFlags,
	run:   runRestore,
}

func restoreFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done, do nothing"},
		&cli.BoolFlag{Name: "staged", Usage: "the staging area only"},
		&cli.BoolFlag{Name: "worktree", Usage: "the worktree only"},
		&cli.BoolFlag{Name: "exact", Usage: "also remove files that were staged later"},
		&cli.BoolFlag{Name: "force", Usage: "take the checkpoint's side everywhere, whatever HEAD is"},
		&cli.BoolFlag{Name: "yes", Usage: "also if HEAD is on another branch than the checkpoint's"},
		changedFlag(),
		&cli.BoolFlag{Name: "continue", Usage: "finish a restore that was interrupted"},
		&cli.BoolFlag{Name: "abort", Usage: "take back what an interrupted restore has done"},
	}
}

func changedFlag() cli.Flag {
	return &cli.StringFlag{Name: "changed", Usage: "what becomes of files that changed since: `mine`, checkpoint or merge"}
}

func runRestore(c *Invocation) error {
	choice, err := gitstore.ParseChanged(c.flags.String("changed"))
	if err != nil {
		return exit.Usagef("restore: --changed: %w", err)
	}
	if err := c.open(); err != nil {
		return err
	}
	if c.flags.Bool("continue") || c.flags.Bool("abort") {
		return c.finishRestore()
	}
	cp, err := c.checkpointArg(false)
	if err != nil {
		return err
	}
	req := gitstore.RestoreRequest{
		Checkpoint: cp, AnyBranch: c.flags.Bool("yes"), Branch: c.ciBranch(),
		Request: gitstore.RestoreOptions{
			Staged: c.flags.Bool("staged"), Worktree: c.flags.Bool("worktree"), Exact: c.flags.Bool("exact"),
			Force: c.flags.Bool("force"), Changed: choice, DryRun: c.flags.Bool("dry-run"),
		},
	}
	for _, name := range c.paths {
		p, err := c.rootPath(name)
		if err != nil {
			return exit.Usagef("restore: %w", err)
		}
		req.Paths = append(req.Paths, p)
	}
	done, err := c.store.Restore(c.ctx, req)
	if err != nil {
		return err
	}
	c.tellMerge(done)
	if c.json {
		err = c.write(output.Restore{
			Type: "restore", CheckpointID: string(done.ID), Restored: phrase.QuotePaths(done.Restored),
			Skipped: phrase.QuotePaths(done.Skipped), InTheWay: phrase.QuotePaths(done.InTheWay), Undo: done.Undo,
		})
	} else {
		c.showRestored(done, req.DryRun)
	}
	if err == nil && len(done.InTheWay) > 0 {
		return exit.Errorf(exit.Refused, restoreAgain(&req),
			"restore %s: %s in the way of files that git does not know were left alone", done.ID, phrase.Plural(len(done.InTheWay), "path"))
	}
	return err
}

// restoreAgain returns the next command if a file is in the way. If --force is set
// already, the user has to move the file.
func restoreAgain(req *gitstore.RestoreRequest) string {
	if req.Force {
		return "git status --short --ignored"
	}
	again := "git checkpoint restore " + phrase.QuoteArg(string(req.Checkpoint.ID)) + " --force"
	if req.Staged != req.Worktree {
		again += map[bool]string{true: " --staged", false: " --worktree"}[req.Staged]
	}
	return again
}

// finishRestore runs --continue or --abort.
func (c *Invocation) finishRestore() error {
	if c.flags.Bool("continue") && c.flags.Bool("abort") {
		return exit.Usagef("restore: --continue and --abort do not go together")
	}
	act, what := c.store.Continue, "finished"
	if c.flags.Bool("abort") {
		act, what = c.store.Abort, "taken back"
	}
	left := c.store.StaleIndexLock()
	was, err := act(c.ctx)
	if err != nil {
		return err
	}
	if !was {
		hint := ""
		if left != "" {
			c.infof("removed %s, which a killed restore had left", phrase.QuotePath(left))
		}
		if issue := c.store.LastRestored(c.ctx); issue != "" {
			hint = "git checkpoint undo " + phrase.QuoteArg(string(issue))
		}
		return exit.Errorf(exit.Refused, hint, "restore: none was interrupted in this worktree")
	}
	c.infof("the interrupted restore is %s", what)
	if c.json {
		return c.write(output.Restore{Type: "restore"})
	}
	return nil
}

// showRestored prints the result of every path.
func (c *Invocation) showRestored(done *gitstore.Restored, dryRun bool) {
	verb, gone := "restored", "removed"
	if dryRun {
		verb, gone = "would restore", "would remove"
	}
	stays := map[string]bool{}
	for _, p := range done.Later {
		stays[p] = true
	}
	for _, p := range done.Restored {
		what := verb
		if stays[p] {
			what, stays[p] = gone, false
		}
		c.print("%s %s\n", what, phrase.QuotePath(p))
	}
	for _, p := range done.Skipped {
		c.print("changed since, left as it is: %s\n", phrase.QuotePath(p))
	}
	for _, p := range done.InTheWay {
		c.print("in the way, left as it is: %s\n", phrase.QuotePath(p))
	}
	for _, p := range done.Later {
		if stays[p] {
			c.print("came later: %s\n", phrase.QuotePath(p))
		}
	}
	for _, p := range done.Merged {
		c.warnf("%s has conflicts to resolve", phrase.QuotePath(p))
	}
	if done.Undo != "" {
		c.infof("hint: git checkpoint undo %s", phrase.QuoteArg(undoIssue(done.Undo)))
	}
}

// tellMerge warns if the files of a merge were restored without the merge state: the next
// commit would lack the second parent.
func (c *Invocation) tellMerge(done *gitstore.Restored) {
	if len(done.Merging) == 0 {
		return
	}
	c.warnf("the checkpoint was saved in a merge with %s, and no merge is under way", strings.Join(done.Merging, ", "))
	if len(done.Merging) == 1 {
		c.infof("hint: git update-ref MERGE_HEAD %s", output.Shell(done.Merging[0]))
	}
}

// undoIssue returns the issue in the ref name of a safety snapshot.
func undoIssue(ref string) string {
	rest := strings.TrimPrefix(ref, "refs/git-checkpoint/undo/")
	name, _, _ := strings.Cut(rest, "/")
	i, err := checkpoint.IssueFromRef(name)
	if err != nil {
		return name
	}
	return string(i)
}
