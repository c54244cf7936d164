package share

import (
	"cmp"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
)

// SyncCommand declares git checkpoint sync.
var SyncCommand = invoke.Command{
	Name: "sync", Usage: "exchange an issue's checkpoints with a remote", Args: "[ISSUE]", Max: 1, Category: "Share",
	Everyday: true, ShortHelp: []string{"remote", "all", "dry-run"},
	Description: "Fetches, joins and pushes: both sides get the checkpoints of both, except checkpoints\n" +
		"that were dropped or pruned on one of them. A ref that is missing on one side was not\n" +
		"dropped: it is restored. Any number of clones can sync at the same time.\n" +
		"First, chains older than max_age_days are archived, and archived checkpoints older than\n" +
		"archive_days are deleted.",
	Examples: []string{"git checkpoint sync 42", "git checkpoint sync --all --remote backup"},
	New:      invoke.Bind((*options).syncFlags, runSync),
}

func runSync(c *invoke.Invocation, o *options) error {
	if err := o.open(c); err != nil {
		return err
	}
	if len(o.issues) == 1 && len(o.remotes) > 1 { // git fetches from another remote than it pushes to
		req := o.request(c, nil)
		req.Join = true // nothing is pushed there
		fetched, err := work.Fetch(c.Ctx, c, o.remotes[1:], req)
		for _, f := range fetched {
			err = cmp.Or(err, f.Err)
		}
		if err != nil {
			c.Warnf("%v", err)
		}
	}
	ageBeforeSync(c, o)
	gate := o.gate(c)
	t := c.TickRemote("sync: " + gitstore.ShownRemote(o.remote))
	req := o.request(c, t.At)
	req.Budget = time.Duration(c.Settings.Int("timeouts.sync")) * time.Second
	gate.Check(&req)
	done, err := c.Store.Sync(c.Ctx, req)
	t.End()
	gate.Report(done)
	warnOtherURLs(c, o)
	for _, s := range done {
		if s.Retries > 0 && s.Err == nil {
			c.Infof("issue %s: another clone pushed first %s", s.Issue, view.Plural(s.Retries, "time"))
		}
	}
	return showShared(c, "sync", o, gate.Untracked, done, err)
}

// ageBeforeSync warns of refs that are no issues, and applies the rules of age to the issues of a sync.
func ageBeforeSync(c *invoke.Invocation, o *options) {
	issues := o.issues
	if len(issues) == 0 { // all issues
		defer c.Store.CacheRefs(c.Ctx)()
		_, strange, _ := c.Store.Issues(c.Ctx, false) // the sync reports the error
		invoke.TellStrange(c, strange)
	}
	switch {
	case o.dryRun:
		return
	case len(issues) == 0:
		work.AgeAutomatically(c)
		var err error
		// If max_age_days is off, only issues with an archive count: to read every chain would take longer than the sync.
		if issues, _, err = c.Store.Issues(c.Ctx, c.Settings.Int("max_age_days") <= 0); err != nil {
			c.Warnf("age limits: %v", err)
		}
	}
	work.Age(c, issues...)
}
