// Package share has the commands that exchange checkpoints with a remote: sync, fetch and
// push.
package share

import (
	"git-checkpoint/commands/internal/aging"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/pushing"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// SyncCommand declares git checkpoint sync.
var SyncCommand = invoke.Command{
	Name: "sync", Usage: "bring an issue here and at a remote to one chain", Args: "[ISSUE]", Max: 1, Category: "Share",
	Description: "Fetches, joins and pushes: both sides get what was saved on either, without what was\n" +
		"dropped or pruned on either. That a ref is gone never means that it was dropped. Any\n" +
		"number of clones may do so at once. What a push would not show, a sync does not.\n" +
		"First, chains that are too old go to the archive, and what was there for long enough\n" +
		"goes away (max_age_days, archive_days).",
	Examples: []string{"git checkpoint sync 42", "git checkpoint sync --all --remote backup"},
	Flags: func() []cli.Flag {
		return append(shareFlags(), &cli.BoolFlag{Name: "archived", Usage: "the archive too, both ways"}, publishFlag())
	},
	Run: runSync,
}

func runSync(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	remote, issues, err := toShare(c, "sync")
	if err != nil {
		return err
	}
	if len(issues) == 0 { // all issues
		_, strange, _ := c.Store.Issues(c.Ctx, false) // the sync reports the error
		invoke.TellStrange(c, strange)
	}
	check := &pushing.ExposureCheck{Invocation: c}
	t := c.Tick("sync: " + gitstore.ShownRemote(remote))
	done, err := c.Store.Sync(c.Ctx, gitstore.SyncRequest{
		Remote: remote, Issues: issues, Timeout: c.RemoteTimeout(), DryRun: c.Flags.Bool("dry-run"),
		Archived: c.Flags.Bool("archived"), Quiet: !terminal.Has(), Budget: shareBudget(c), Progress: t.At,
		Meanwhile: func() { ageBeforeSync(c, issues) },
		Harmless:  check.Unobjectionable,
		May: func(i checkpoint.Issue, out gitstore.Outgoing) error {
			if out.Unpublished != "" {
				t.End() // a question may follow
			}
			return check.MayShow(remote, i, out, true)
		},
	})
	t.End()
	check.TellPointers(remote, done)
	for _, s := range done {
		if s.Retries > 0 && s.Err == nil {
			c.Infof("issue %s: somebody else was first %s", s.Issue, phrase.Plural(s.Retries, "time"))
		}
	}
	return showShared(c, "sync", remote, done, err)
}

// ageBeforeSync applies the rules of age to issues. No issues means all issues.
func ageBeforeSync(c *invoke.Invocation, issues []checkpoint.Issue) {
	if c.Flags.Bool("dry-run") {
		return
	}
	if len(issues) == 0 {
		issues = aging.Issues(c)
	}
	aging.Apply(c, issues...)
}
