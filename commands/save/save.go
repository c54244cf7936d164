// Package save has the commands that record checkpoints: save and run.
package save

import (
	"cmp"
	"errors"
	"slices"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/issuesource"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/pushing"
	"git-checkpoint/commands/internal/saving"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

// SaveCommand declares git checkpoint save.
var SaveCommand = invoke.Command{
	Name: "save", Usage: "record a checkpoint, then apply retention to its issue", Args: "[ISSUE]", Max: 1,
	Category: "Record",
	Examples: []string{
		"git checkpoint save 42 -m 'before the refactoring'",
		"git checkpoint save --trigger batch_complete --phase implementing --batch 2",
		"git checkpoint save --as pipeline --from .pipeline/checkpoint-PROJ-42.json",
		"git checkpoint save 42 --set progress.total=5 --state state.yaml --artifact build/report.html",
	},
	MayBeEmpty: []string{"phase", "message", "session", "resume-from"},
	Description: "Commits the workflow's record and a snapshot of the staging area to\n" +
		"refs/checkpoints/<issue>, and prints the checkpoint's id. Nothing else changes:\n" +
		"not HEAD, not the branch, not the index, not the worktree.",
	Flags: saveFlags,
	Run:   runSave,
}

func saveFlags() []cli.Flag {
	return append(append(contentFlags(), documentFlags()...),
		&cli.BoolFlag{Name: "no-prune", Usage: "leave retention for later"},
		&cli.BoolFlag{Name: "if-changed", Usage: "save nothing when nothing changed since the newest one"},
		&cli.BoolFlag{Name: "dry-run", Usage: "do everything but write"},
		pushing.Flag(),
	)
}

// contentFlags returns the flags that set the content of a checkpoint.
func contentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "trigger", Usage: "what `TRIGGER` led to this checkpoint", Value: string(checkpoint.Manual)},
		&cli.StringFlag{Name: "phase", Usage: "the workflow's current `PHASE`"},
		&cli.IntFlag{Name: "batch", Usage: "the execution batch `N` that the trigger speaks of"},
		&cli.StringFlag{Name: "agent", Usage: "the `AGENT` that did something, with --action"},
		&cli.StringFlag{Name: "action", Usage: "the `ACTION` that the agent completed"},
		&cli.StringFlag{Name: "conflict", Usage: "the conflict `ID` that began or was resolved"},
		&cli.StringFlag{Name: "session", Usage: "the session `UUID`"},
		&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "a `NOTE` for people"},
		&cli.StringFlag{Name: "summary", Usage: "what the work came to so far, as `TEXT` for who goes on"},
		&cli.StringSliceFlag{Name: "decision", Usage: "a decision that stays, as `TEXT`"},
		&cli.StringFlag{Name: "resume-from", Usage: "where to go on, as `TEXT`"},
		&cli.StringFlag{Name: "no-resume", Usage: "this one cannot be resumed, for this `REASON`"},
		&cli.StringFlag{Name: "state", Usage: "merge `FILE` (YAML or JSON, - for standard input) into the record"},
		&cli.StringSliceFlag{Name: "set", Usage: "set `PATH=VALUE` in the record; null deletes"},
		&cli.BoolFlag{Name: "strict", Usage: "refuse a phase that is not known"},
		&cli.BoolFlag{Name: "replace", Usage: "start from an empty record"},
		&cli.StringSliceFlag{Name: "artifact", Usage: "keep the file at `PATH` too, a git-ignored one as well"},
		&cli.BoolFlag{Name: "worktree", Usage: "keep unstaged changes too"},
		&cli.BoolFlag{Name: "untracked", Usage: "keep untracked files too, never ignored ones"},
		&cli.StringFlag{Name: "issue-file", Usage: "read the issue's title, body and labels from `FILE`"},
		&cli.BoolFlag{Name: "no-body", Usage: "keep a digest of the issue's body instead of its text"},
		issuesource.OfflineFlag(),
	}
}

func runSave(c *invoke.Invocation) error {
	trigger, err := checkpoint.ParseTrigger(c.Flags.String("trigger"))
	if err != nil {
		return exit.Usagef("save: --trigger: %w", err)
	}
	in := saving.Input{Content: true}
	if in.Doc, err = readDocument(c); err != nil {
		return err
	}
	if in.Doc != nil && !c.Flags.IsSet("trigger") {
		trigger = in.Doc.Trigger()
	}
	if err := saving.Open(c, trigger); err != nil {
		return err
	}
	issue, err := targetIssue(c, trigger, in.Doc)
	if err != nil {
		return err
	}
	if on, why := c.Settings.TriggerEnabled(trigger); !on {
		if trigger == checkpoint.Manual {
			return exit.Errorf(exit.Refused, saving.Enable(c), "save: %s", why)
		}
		return skipped(c, issue, why)
	}
	if why := tooSoon(c, issue, trigger, in.Doc); why != "" {
		return skipped(c, issue, why)
	}
	req, err := saving.Request(c, issue, trigger, in)
	if err != nil {
		return err
	}
	saved, err := c.Store.Save(c.Ctx, req)
	if errors.Is(err, gitstore.ErrUnchanged) {
		pushing.Missed(c, issue)
		return skipped(c, issue, gitstore.ErrUnchanged.Error())
	}
	if taken, before := savedBefore(c, in.Doc, err); before {
		return skipped(c, issue, taken.Error())
	}
	if err != nil {
		return err
	}
	return cmp.Or(saving.Finish(c, saved, recordOfSave), sentBack(in.Doc, saved))
}

// targetIssue returns the issue to save to. Automatic triggers require a named issue.
func targetIssue(c *invoke.Invocation, trigger checkpoint.Trigger, doc *layout.File) (checkpoint.Issue, error) {
	if slices.Contains(issuesource.Hasty, trigger) && doc == nil {
		return c.WatchedIssue("git checkpoint save ISSUE")
	}
	return issueOf(c, doc)
}

// sentBack returns an error if the saved document has sent its story back too often.
func sentBack(doc *layout.File, s *gitstore.Saved) error {
	if doc == nil || !story.SentBack(s.Record) {
		return nil
	}
	return judge.TaskFailure(s.Issue, "", story.Err(s.Record, story.Of(s.Record)))
}

func recordOfSave(s *gitstore.Saved, warnings []string) any {
	return saving.Record("save", s, warnings)
}

// skipped prints that nothing was saved, and the reason.
func skipped(c *invoke.Invocation, issue checkpoint.Issue, why string) error {
	if c.JSON {
		return c.WriteJSON(output.Save{
			Type: "save", Issue: string(issue), Skipped: why, Trigger: c.Flags.String("trigger"), Warnings: c.TakeWarnings(),
		})
	}
	c.Infof("skipped: %s", why)
	return nil
}
