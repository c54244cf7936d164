package commands

import (
	"cmp"
	"errors"
	"fmt"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

var scanCommand = command{
	name: "scan", usage: "look for secrets in what would be pushed", args: "[ISSUE]", max: 1, category: "Share",
	description: "Looks at every file that a push of the issue would show for the first time, and tells\n" +
		"where something looks like a secret, or names a folder of a person's machine, never what\n" +
		"it is. A secret exits 13, since it would stop the push; a machine's path stops nothing.\n" +
		"What is no secret: a line that says checkpoint:allow, and git config checkpoint.scan-allow.",
	examples: []string{"git checkpoint scan 42", "git checkpoint scan 42 --remote backup --json"},
	flags: func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "remote", Usage: "what a push to this `REMOTE` would show, instead of the configured one"},
			&cli.BoolFlag{Name: "all", Usage: "of every issue"},
		}
	},
	run: runScan,
}

func runScan(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	issues, err := c.issuesToScan()
	if err != nil {
		return err
	}
	remote, err := c.remote(c.flags.String("remote"))
	if err != nil && !errors.Is(err, gitstore.ErrNoRemote) {
		return err
	}
	result := output.Scan{Type: "scan"}
	var stops []stopping
	failed := c.each(issues, func(i checkpoint.Issue) error {
		found, err := c.scan(remote, i)
		if err != nil {
			return fmt.Errorf("issue %s: look for secrets: %w", i, err)
		}
		for _, f := range found.Found {
			result.Findings = append(result.Findings, output.ScanFinding{CheckpointID: string(f.ID), Path: f.Path, Line: f.Line, Rule: f.Rule})
			if !f.Told() && c.settings.String("redact") != "warn" {
				stops = append(stops, stopping{i, f})
			}
		}
		for _, s := range found.Skipped {
			result.Skipped = append(result.Skipped, output.Skipped{Path: s.Path, Reason: s.Why})
		}
		return nil
	})
	if failed != nil && len(result.Findings) == 0 {
		return failed
	}
	return cmp.Or(cmp.Or(c.showScan(result), failed), stopped(stops))
}

// A stopping is a secret that would block the push of an issue.
type stopping struct {
	issue checkpoint.Issue
	gitstore.Secret
}

// stopped returns the failure for secrets that would block a push, or nil.
func stopped(by []stopping) error {
	if len(by) == 0 {
		return nil
	}
	hint := ""
	if first := by[0]; first.ID != "" {
		hint = fmt.Sprintf("git checkpoint drop %s %s", phrase.QuoteArg(string(first.issue)), phrase.QuoteArg(string(first.ID)))
	}
	return exit.Errorf(exit.Secrets, hint, "scan: a push would show %s", phrase.Plural(len(by), "secret"))
}

// issuesToScan returns the named issue, or every issue with --all.
func (c *Invocation) issuesToScan() ([]checkpoint.Issue, error) {
	if c.flags.Bool("all") {
		if len(c.args) > 0 || c.flags.IsSet("issue") {
			return nil, exit.Usagef("scan: --all takes no issue")
		}
		issues, _, err := c.store.Issues(c.ctx, false)
		return issues, err
	}
	issue, err := c.issue()
	if err == nil && !c.store.HasIssue(c.ctx, issue) {
		err = &gitstore.NoneError{Issue: issue}
	}
	return []checkpoint.Issue{issue}, err
}

// scan checks objects that a push of the issue would send. Without a remote, scan checks
// all objects of the issue.
func (c *Invocation) scan(remote string, i checkpoint.Issue) (*gitstore.Scanned, error) {
	out, err := c.store.Outgoing(c.ctx, remote, i, c.store.Fetched(c.ctx))
	if err != nil || out.Nothing {
		return &gitstore.Scanned{}, err
	}
	req := c.scanRequest(i, out)
	req.Told = true
	return c.store.Scan(c.ctx, req)
}

func (c *Invocation) showScan(s output.Scan) error {
	if c.json {
		return c.write(s)
	}
	for _, f := range s.Findings {
		if f.Line == 0 { // the user's scanner reported a secret without a location
			c.print("%s: it says there is a secret, and not where\n", output.Clean(f.Rule))
			continue
		}
		c.print("%s\n", output.Clean(fmt.Sprintf("%s %s:%d: %s", cmp.Or(f.CheckpointID, "(a commit of its HEAD)"), f.Path, f.Line, f.Rule)))
	}
	for _, f := range s.Skipped {
		c.infof("not looked at: %s (%s)", f.Path, f.Reason)
	}
	c.infof("%s", phrase.Plural(len(s.Findings), "finding"))
	return nil
}
