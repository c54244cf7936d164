package workflow

import (
	"errors"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/retention"

	"github.com/urfave/cli/v2"
)

// FinishCommand declares git checkpoint finish.
var FinishCommand = invoke.Command{
	Name: "finish", Usage: "end a workflow", Args: "[ISSUE]", Max: 1, Category: "Progress",
	ShortHelp: []string{"status", "error"},
	Description: "Saves the result, then archives the chain (settings on_success and on_failure). show,\n" +
		"resume and restore find archived checkpoints by their id. If the archiving\n" +
		"is refused, nothing is saved or pushed. It works in a shallow clone too.",
	Examples: []string{
		"git checkpoint finish 42",
		"git checkpoint finish 42 --status failed --error 'the disk of the build machine is full'",
	},
	Saves: true,
	New:   invoke.Bind((*finishOptions).flags, runFinish),
}

// finishOptions are the flags of finish.
type finishOptions struct {
	work.SaveOptions
	status, error string
	keepLatest    bool
}

func (o *finishOptions) flags() []cli.Flag {
	return o.StepFlags(
		&cli.StringFlag{Name: "status", Usage: "result of the work: `completed`, failed or abandoned", Value: progress.Completed, Destination: &o.status},
		&cli.StringFlag{Name: "error", Usage: "reason of the failure (`TEXT`)", Destination: &o.error},
		&cli.BoolFlag{Name: "keep-latest", Usage: "leave the newest checkpoint in the chain", Destination: &o.keepLatest},
	)
}

func runFinish(c *invoke.Invocation, o *finishOptions) error {
	status, err := progress.ParseStatus(o.status)
	if err != nil {
		return failure.Usagef("finish: --status: %w", err)
	}
	if err := work.OpenToSave(c); err != nil {
		return err
	}
	issue, err := c.Issue()
	if err != nil {
		return err
	}
	if _, err := c.Store.Newest(c.Ctx, issue); err != nil {
		return err
	}
	if what := disposal(c, status); (what == "archive" || what == "drop") && !o.DryRun {
		if err := c.Store.CheckArchive(c.Ctx, issue); err != nil {
			return err // before the save, so that the chain stays as it was
		}
	}
	now := c.Env.Now()
	ends := step{
		command: "finish", options: &o.SaveOptions, trigger: checkpoint.PhaseTransition,
		note: func() string { return stepNote("", "finished, "+string(reasons[status]), o.error) },
		move: func(r *checkpoint.Record) error {
			progress.Finish(r, status, o.error, now)
			return nil
		},
		end: func(s *gitstore.Saved) error {
			if open := s.Record.Progress().Remaining; status == progress.Completed && len(open) > 0 {
				c.Warnf("completed with phases that are neither completed nor skipped: %s", view.List(open))
			}
			if forks, err := c.Store.Forks(c.Ctx, s.Issue); err == nil && len(forks) > 0 {
				c.Warnf("forks are still open: %s; git checkpoint compare %s", view.List(view.Strings(forks)), view.IssueArg(s.Issue))
			}
			return dispose(c, s, status, o.keepLatest)
		},
	}
	return c.Store.Operate(c.Ctx, "finish", issue, func() error { return take(c, issue, ends) })
}

// dispose archives or drops the chain of a finished workflow, as on_success or on_failure
// requires. keepLatest leaves the newest checkpoint in the chain. An archived save is then
// found in the archive.
func dispose(c *invoke.Invocation, s *gitstore.Saved, status string, keepLatest bool) error {
	work.Age(c, s.Issue)
	var err error
	switch disposal(c, status) {
	case "archive":
		err = archiveChain(c, s, reasons[status], keepLatest)
	case "drop":
		err = dropChain(c, s, keepLatest)
	}
	if errors.As(err, new(*gitstore.NoneError)) { // another process was faster
		return nil
	}
	return err
}

// disposal returns what on_success or on_failure says: archive, drop or keep. With invalid
// settings a chain is archived instead of dropped, because another source may say so.
func disposal(c *invoke.Invocation, status string) string {
	if status != progress.Completed {
		return c.Settings.String("on_failure")
	}
	wanted := c.Settings.String("on_success")
	if wanted == "drop" && c.Settings.Invalid() != nil {
		return "archive"
	}
	return wanted
}

// reasons maps a workflow's final status to an archive reason.
var reasons = map[string]retention.Reason{
	progress.Completed: retention.ReasonCompleted,
	progress.Failed:    retention.ReasonFailed,
	progress.Aborted:   retention.ReasonAbandoned,
}

// archiveChain moves the issue's chain to the archive, including the new checkpoint.
func archiveChain(c *invoke.Invocation, s *gitstore.Saved, why retention.Reason, keepLatest bool) error {
	var err error
	if keepLatest {
		var moved []checkpoint.ID
		if moved, err = c.Store.ArchiveBut(c.Ctx, s.Issue, s.ID, why); err == nil && len(moved) == 0 {
			return nil
		}
	} else {
		_, err = c.Store.Archive(c.Ctx, s.Issue, nil, why)
	}
	if err != nil {
		return undisposed(s, "archive", err)
	}
	if l, err := c.Store.List(c.Ctx, s.Issue, 0); err != nil || !l.Cut { // a shallow chain keeps its commits
		if cp, err := c.Store.ByID(c.Ctx, s.Issue, s.ID); err == nil && cp.Archived {
			s.Commit, s.Ref = cp.Commit, gitstore.ArchiveRef(s.Issue)
		}
	}
	c.Infof("archived; git checkpoint undo %s restores the checkpoints", view.IssueArg(s.Issue))
	return nil
}

// undisposed wraps the error of an archive or a drop with the fact that the workflow has
// ended.
func undisposed(s *gitstore.Saved, verb string, err error) error {
	hint := "git checkpoint " + verb + " " + view.IssueArg(s.Issue)
	if verb == "drop" {
		hint += " --all"
	}
	return failure.Errorf(failure.Failure, hint, "%s is in the chain and ends the workflow, but: %w", s.ID, err)
}

// dropChain drops the issue's chain except pinned checkpoints.
func dropChain(c *invoke.Invocation, s *gitstore.Saved, keepLatest bool) error {
	l, err := c.Store.List(c.Ctx, s.Issue, 0)
	if err != nil {
		return err
	}
	var ids []checkpoint.ID
	for _, cp := range l.Checkpoints {
		if cp.ID != "" && !cp.Pinned && (cp.ID != s.ID || !keepLatest) {
			ids = append(ids, cp.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := c.Store.DropAll(c.Ctx, s.Issue, ids); err != nil {
		return undisposed(s, "drop", err)
	}
	c.Infof("dropped %s; git checkpoint undo %s restores them", view.Plural(len(ids), "checkpoint"), view.IssueArg(s.Issue))
	return nil
}
