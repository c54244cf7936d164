package commands

import (
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

var syncCommand = command{
	name: "sync", usage: "bring an issue here and at a remote to one chain", args: "[ISSUE]", max: 1, category: "Share",
	description: "Fetches, joins and pushes: both sides get what was saved on either, without what was\n" +
		"dropped or pruned on either. That a ref is gone never means that it was dropped. Any\n" +
		"number of clones may do so at once. What a push would not show, a sync does not.\n" +
		"First, chains that are too old go to the archive, and what was there for long enough\n" +
		"goes away (max_age_days, archive_days).",
	examples: []string{"git checkpoint sync 42", "git checkpoint sync --all --remote backup"},
	flags: func() []cli.Flag {
		return append(shareFlags(), &cli.BoolFlag{Name: "archived", Usage: "the archive too, both ways"}, publishFlag())
	},
	run: runSync,
}

func runSync(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	remote, issues, err := c.toShare()
	if err != nil {
		return err
	}
	if len(issues) == 0 { // all issues
		_, strange, _ := c.store.Issues(c.ctx, false) // the sync reports the error
		c.tellStrange(strange)
	}
	check := &exposureCheck{c: c}
	t := c.tick("sync: " + gitstore.ShownRemote(remote))
	done, err := c.store.Sync(c.ctx, gitstore.SyncRequest{
		Remote: remote, Issues: issues, Timeout: c.remoteTimeout(), DryRun: c.flags.Bool("dry-run"),
		Archived: c.flags.Bool("archived"), Quiet: !terminal.Has(), Budget: c.shareBudget(), Progress: t.at,
		Meanwhile: func() { c.ageBeforeSync(issues) },
		Harmless:  check.unobjectionable,
		May: func(i checkpoint.Issue, out gitstore.Outgoing) error {
			if out.Unpublished != "" {
				t.end() // a question may follow
			}
			return check.mayShow(remote, i, out, true)
		},
	})
	t.end()
	check.tellPointers(remote, done)
	for _, s := range done {
		if s.Retries > 0 && s.Err == nil {
			c.infof("issue %s: somebody else was first %s", s.Issue, phrase.Plural(s.Retries, "time"))
		}
	}
	return c.showShared(remote, done, err)
}

// ageBeforeSync applies the rules of age to issues. No issues means all issues.
func (c *Invocation) ageBeforeSync(issues []checkpoint.Issue) {
	if c.flags.Bool("dry-run") {
		return
	}
	if len(issues) == 0 {
		issues = c.issuesToAge()
	}
	c.applyAge(issues...)
}
