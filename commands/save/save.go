// Package save has the commands that record checkpoints: save and run.
package save

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"

	"github.com/urfave/cli/v2"
)

// SaveCommand declares git checkpoint save.
var SaveCommand = invoke.Command{
	Name: "save", Usage: "record a checkpoint, then apply retention to the issue", Args: "[ISSUE]", Max: 1,
	Everyday: true, ShortHelp: []string{"message", "staged", "summary", "resume-from", "push"},
	Category: "Record",
	Examples: []string{
		"git checkpoint save 42 -m 'before the refactoring'",
		"git checkpoint save --summary 'parser done, tests fail' --resume-from 'fix parser_test.go'",
		"git checkpoint save --trigger batch_complete --phase implementing --batch 2",
		"git checkpoint save --as pipeline --from .pipeline/checkpoint-PROJ-42.json",
		"git checkpoint save 42 --set progress.total=5 --state state.yaml --artifact build/report.html",
	},
	MayBeEmpty: []string{"phase", "message", "session", "resume-from"},
	Description: "Commits the workflow's record and a snapshot of the work to\n" +
		"refs/checkpoints/<issue>, and prints the checkpoint's id. The snapshot has the staged\n" +
		"files, the modified files and the untracked files that git does not ignore. Nothing\n" +
		"else changes: not HEAD, not the branch, not the index, not the worktree. What was left\n" +
		"out is printed, with the reason, and is in the record.",
	Saves: true,
	New:   invoke.Bind((*saveOptions).flags, runSave),
}

// saveOptions are the flags of save.
type saveOptions struct {
	work.SaveOptions
	trigger  string
	as, from string // layout and file of a document of another system, or ""
	kind     string // type of the workflow of a state, "" if the file is a document
	project  string // project of a state, "" for the project in it
}

func (o *saveOptions) flags() []cli.Flag {
	trigger := &cli.StringFlag{Name: "trigger", Usage: "event that caused the checkpoint (`TRIGGER`)", Value: string(checkpoint.Manual), Destination: &o.trigger}
	return append(append([]cli.Flag{trigger}, o.ContentFlags()...),
		&cli.StringFlag{Name: "as", Usage: "record a document of another system, of `LAYOUT`: " + view.OneOf(layout.Names()), Destination: &o.as},
		&cli.StringFlag{Name: "from", Usage: "`FILE` of the document, - for standard input", Destination: &o.from},
		&cli.StringFlag{Name: "type", Usage: "with --as claude: FILE is the state of a workflow of `TYPE`; save adds id, times and status", Destination: &o.kind},
		&cli.StringFlag{Name: "project", Usage: "with --type, the `PROJECT` of a state that does not name it", Destination: &o.project},
		o.NoPruneFlag(),
		&cli.BoolFlag{Name: "if-changed", Usage: "save nothing if nothing has changed since the newest checkpoint; on for a pipeline's state.json", Destination: &o.IfChanged},
		o.DryRunFlag(),
		o.PushFlag(),
	)
}

func runSave(c *invoke.Invocation, o *saveOptions) error {
	trigger, err := checkpoint.ParseTrigger(o.trigger)
	if err != nil {
		return failure.Usagef("save: --trigger: %w", err)
	}
	doc, trigger, err := openFor(c, o, trigger)
	if err != nil {
		return err
	}
	issue, err := issueOf(c, doc)
	if err != nil {
		return err
	}
	if on, why := c.Settings.TriggerEnabled(trigger); !on {
		if trigger == checkpoint.Manual {
			return failure.Errorf(failure.Refused, work.Enable(c), "save: %s", why)
		}
		return skipped(c, issue, o, why)
	}
	if why := tooSoon(c, issue, trigger, o); why != "" {
		return skipped(c, issue, o, why)
	}
	o.IfChanged = o.IfChanged || doc != nil && doc.Heartbeat() && !c.Line.Flags.IsSet("if-changed")
	req, err := work.SaveRequest(c, issue, trigger, &o.SaveOptions, work.SaveInput{Doc: doc, Named: c.Line.Flags.IsSet("trigger")})
	if err != nil {
		return err
	}
	other, isFirst := otherBranch(c, issue)
	if other != "" && isFirst && c.AtTerminal() && c.Subject.Inferred && trigger == checkpoint.Manual && !c.Line.JSON && !c.Out.Quiet && !o.DryRun {
		again := "git checkpoint save " + view.IssueArg(issue)
		yes, err := c.Confirm(fmt.Sprintf("Issue %s has checkpoints of branch %s. Does this branch go on with them? [y/N] ", view.Clean(string(issue)), view.Clean(other)), again)
		if err == nil && !yes {
			branch, _ := c.CurrentBranch()
			c.Infof("nothing was saved")
			c.Infof("hint: %s", again)
			c.Infof("hint: git checkpoint save --issue %s", view.QuoteArg(branch))
			err = failure.Silent{Code: failure.None}
		}
		if err != nil {
			return err
		}
		other = ""
	}
	t := c.TickFiles(c.Line.Name + ": reading files")
	saved, err := c.Store.Save(c.Ctx, req)
	t.End()
	if errors.Is(err, gitstore.ErrUnchanged) {
		failed := work.PushMissed(c, issue, &o.SaveOptions)
		return cmp.Or(skipped(c, issue, o, gitstore.ErrUnchanged.Error()), failed)
	}
	if taken, before := savedBefore(c, doc, err); before {
		return skipped(c, issue, o, taken.Error())
	}
	if err != nil {
		return err
	}
	if other != "" && !o.DryRun && (trigger == checkpoint.Manual && c.Subject.Inferred || c.Env.InHook && isFirst) {
		c.WarnAlways("issue %s also has checkpoints of branch %s", issue, other)
	}
	if trigger == checkpoint.Manual && !o.DryRun {
		c.WarnLocalCommits(&saved.Checkpoint)
	}
	if c.AtTerminal() && !c.Line.JSON && !c.Out.Quiet && !o.DryRun {
		tellFiles(c, o, saved)
	}
	err = work.FinishSave(c, saved, o.Push, func(s *gitstore.Saved, warnings []string) any {
		return work.SaveRecord("save", s, warnings)
	})
	work.Maintain(c, trigger, &o.SaveOptions)
	if err == nil && doc != nil && story.SentBack(saved.Record) { // perhaps too often
		err = work.TaskFailure(saved.Issue, "", story.Err(saved.Record, story.Of(saved.Record)))
	}
	return err
}

// otherBranch returns another branch whose checkpoint a save goes on from, if the names of both
// branches give the issue, else "". isFirst reports that the issue has no checkpoint of this branch.
func otherBranch(c *invoke.Invocation, issue checkpoint.Issue) (other string, isFirst bool) {
	l, err := c.Store.List(c.Ctx, issue, 1)
	branch, branchErr := c.CurrentBranch()
	if err != nil || branchErr != nil || branch == "" || len(l.Checkpoints) == 0 || l.Checkpoints[0].Branch == gitstore.RecordedBranch(branch) {
		return "", false
	}
	other = l.Checkpoints[0].Branch
	for _, name := range []string{other, branch} {
		if i, err := c.BranchIssue(name); err != nil || i != issue {
			return "", false
		}
	}
	if b, err := c.Store.Facts.FindBranch(c.Ctx, other, time.Time{}); err != nil || !b.Exists {
		return "", false
	}
	l, err = c.Store.List(c.Ctx, issue, 0)
	return other, err == nil && !slices.ContainsFunc(l.Checkpoints, func(cp gitstore.Checkpoint) bool { return cp.Branch == gitstore.RecordedBranch(branch) })
}

// tellFiles prints the issue of the checkpoint, how many changed files it has, and after
// --staged how many it lacks.
func tellFiles(c *invoke.Invocation, o *saveOptions, s *gitstore.Saved) {
	c.Infof("saved %s for %s: %s", s.ID.Short(), c.TakeAnnouncement("issue "+string(s.Issue)), savedFiles(s))
	if !o.Staged {
		return
	}
	lines, err := c.Store.Files.Status(c.Ctx)
	n := make([]int, 2)
	for _, line := range lines {
		switch {
		case line[0] == '?':
			n[1]++
		case line[1] != ' ':
			n[0]++
		}
	}
	if err != nil || n[0]+n[1] == 0 {
		return
	}
	c.Infof("not saved: %s", counted(n, []string{"modified", "untracked"}))
	c.Infof("hint: git checkpoint save %s", view.IssueArg(s.Issue))
}

// savedFiles returns the number of changed files in a checkpoint by their kind.
func savedFiles(s *gitstore.Saved) string {
	files := s.Record.Files()
	if s.Files > len(files) { // the record does not list all of them
		return view.Plural(s.Files, "file")
	}
	var n [3]int
	for _, f := range files {
		switch {
		case f.Staged:
			n[0]++
		case f.Status == "untracked":
			n[2]++
		default:
			n[1]++
		}
	}
	return cmp.Or(counted(n[:], []string{"staged", "modified", "untracked"}), "no changed files")
}

// counted returns the numbers that are not zero, each with its word.
func counted(numbers []int, words []string) string {
	var list []string
	for i, n := range numbers {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, words[i]))
		}
	}
	return view.List(list)
}

func skipped(c *invoke.Invocation, issue checkpoint.Issue, o *saveOptions, why string) error {
	if c.Line.JSON {
		return c.WriteJSON(view.Save{
			Type: "save", DryRun: o.DryRun, Issue: string(issue), Skipped: why, Trigger: o.trigger, Warnings: c.TakeWarnings(),
		})
	}
	c.Infof("skipped: %s", why)
	return nil
}

// tooSoon returns the reason to skip an automatic save shortly after another checkpoint of its
// branch and session. It returns "" for all other saves. Turns are never too soon: they are
// saved if files have changed, so that the last state of a killed session is there.
func tooSoon(c *invoke.Invocation, issue checkpoint.Issue, t checkpoint.Trigger, o *saveOptions) string {
	least := time.Duration(c.Settings.Int("min_interval")) * time.Second
	if least == 0 || o.as != "" || o.State != "" || len(o.Sets)+len(o.Decisions) > 0 {
		return ""
	}
	switch t {
	case checkpoint.Interval, checkpoint.BeforeAgent, checkpoint.BatchStart:
	default:
		return ""
	}
	branch, err := c.CurrentBranch()
	if err != nil {
		return ""
	}
	l, err := c.Store.List(c.Ctx, issue, 20)
	if err != nil {
		return ""
	}
	for i := range l.Checkpoints {
		cp := &l.Checkpoints[i]
		since := c.Env.Now().Sub(cp.Saved)
		if since < 0 || since >= least || cp.Omitted > 0 || cp.Branch != gitstore.RecordedBranch(branch) {
			return "" // no checkpoint of this time has all files of this branch
		}
		if r, err := c.Store.Record(cp); o.Session == "" || err != nil || r.Session() == o.Session {
			return fmt.Sprintf("saved %s ago, and min_interval is %s", since.Truncate(time.Second), least)
		}
	}
	return ""
}
