// Package scan has the command scan.
package scan

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// ScanCommand declares git checkpoint scan.
var ScanCommand = invoke.Command{
	Name: "scan", Usage: "search for secrets in the objects of a push", Args: "[ISSUE]", Max: 1, Category: "Share",
	Description: "Reads every file that a push of the issue would publish for the first time. Prints the\n" +
		"places of possible secrets and of paths in a home folder, but never the secret itself.\n" +
		"A secret exits with 13, because it stops the push; a path stops nothing. To allow a text,\n" +
		"write checkpoint:allow in its line, or use git config checkpoint.scan-allow.\n" +
		"git config checkpoint.scan-command can run gitleaks or betterleaks in addition.",
	Examples:  []string{"git checkpoint scan 42", "git checkpoint scan 42 --remote backup --json"},
	ReadsOnly: true,
	New:       invoke.Bind((*scanOptions).flags, runScan),
}

// scanOptions holds the flags of scan.
type scanOptions struct {
	remote string // "" for the configured remote
	all    bool   // every issue
}

func (o *scanOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "remote", Usage: "scan a push to `REMOTE` instead of the configured remote", Destination: &o.remote},
		&cli.BoolFlag{Name: "all", Usage: "scan every issue", Destination: &o.all},
	}
}

func runScan(c *invoke.Invocation, o *scanOptions) error {
	if err := c.Open(); err != nil {
		return err
	}
	if o.all && (len(c.Line.Args) > 0 || c.Line.Common.Issue != "") {
		return failure.Usagef("scan: --all takes no issue")
	}
	var issues []checkpoint.Issue
	var err error
	if o.all {
		issues, _, err = c.Store.Issues(c.Ctx, false)
	} else {
		issues = make([]checkpoint.Issue, 1)
		if issues[0], err = c.Issue(); err == nil && !c.Store.HasIssue(c.Ctx, issues[0]) {
			err = &gitstore.NoneError{Issue: issues[0]}
		}
	}
	if err != nil {
		return err
	}
	remote, err := c.Remote(o.remote, issues...)
	if err != nil && !errors.Is(err, gitstore.ErrNoRemote) {
		return err
	}
	result := view.Scan{Type: "scan"}
	var stops []stopping
	settings := work.ScanRequest(c)
	settings.Informational = true
	scanned, errs := c.Store.ScanPush(c.Ctx, remote, c.RemoteTimeout(), issues, settings)
	n := -1
	failed := c.Each(issues, func(i checkpoint.Issue) error {
		n++
		found := scanned[n]
		if errs[n] != nil {
			return fmt.Errorf("issue %s: scan for secrets: %w", i, errs[n])
		}
		for _, f := range found.Found {
			result.Findings = append(result.Findings, f)
			if !f.Informational() && c.Settings.String("redact") != "warn" {
				stops = append(stops, stopping{i, f})
			}
		}
		for _, s := range found.Skipped {
			result.Skipped = append(result.Skipped, view.Skipped{Path: s.Path, Reason: s.Why})
		}
		return nil
	})
	if failed != nil && len(result.Findings) == 0 {
		return failed
	}
	return cmp.Or(cmp.Or(showScan(c, result), failed), stopped(c, stops))
}

// A stopping is a secret that would block the push of an issue.
type stopping struct {
	issue checkpoint.Issue
	gitstore.Secret
}

// stopped returns the failure for secrets that would block a push, or nil. The next commands are an
// exception if the value is no secret, and the removal of the file and of the checkpoint if it is a secret.
func stopped(c *invoke.Invocation, by []stopping) error {
	if len(by) == 0 {
		return nil
	}
	s, hints := by[0], []string{}
	if s.Line > 0 {
		hints = append(hints, fmt.Sprintf("git config --add checkpoint.scan-allow %s # if it is not a secret; checkpoint:allow in the line has the same effect", view.QuoteArg(s.Rule+":"+s.Path)))
	}
	if path, staged := strings.CutPrefix(s.Path, "staged/"); staged && s.ID != "" {
		hints = append(hints, fmt.Sprintf("git restore --staged -- %s # if it is a secret; then save again and drop this checkpoint", failure.PathArgs(c.Store.Prefix(), path)))
	}
	if s.ID != "" {
		hints = append(hints, fmt.Sprintf("git checkpoint drop %s %s", view.IssueArg(s.issue), view.QuoteArg(string(s.ID))))
	}
	return failure.Errorf(failure.Secrets, strings.Join(hints, "\n"), "scan: a push would show %s", view.Plural(len(by), "secret"))
}

func showScan(c *invoke.Invocation, s view.Scan) error {
	if c.Line.JSON {
		return c.WriteJSON(s)
	}
	for _, f := range s.Findings {
		if f.Line == 0 { // the user's scanner reported a secret without a location
			c.Printf("%s: it says there is a secret, and not where\n", view.Clean(f.Rule))
			continue
		}
		c.Printf("%s\n", view.Clean(fmt.Sprintf("%s %s:%d: %s", cmp.Or(f.ID, "(a commit of its HEAD)"), f.Path, f.Line, f.Rule)))
	}
	for _, f := range s.Skipped {
		c.Infof("not looked at: %s (%s)", f.Path, f.Reason)
	}
	c.Infof("%s", view.Plural(len(s.Findings), "finding"))
	return nil
}
