package commands

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

var fetchCommand = command{
	name: "fetch", usage: "bring an issue's checkpoints from a remote", args: "[ISSUE]", max: 1, category: "Share",
	description: "A chain here that the remote's continues moves to it. One that has diverged stays\n" +
		"as it is; the remote's is kept under refs/git-checkpoint/remote/.",
	examples: []string{"git checkpoint fetch 42", "git checkpoint fetch --all --remote backup"},
	flags:    shareFlags,
	run:      runFetch,
}

// shareFlags returns the flags of fetch and push.
func shareFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "remote", Usage: "the `REMOTE`, instead of the configured one"},
		&cli.BoolFlag{Name: "all", Usage: "every issue"},
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done, move nothing"},
	}
}

func runFetch(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	remote, issues, err := c.toShare()
	if err != nil {
		return err
	}
	t := c.tick("fetch: " + gitstore.ShownRemote(remote))
	done, err := c.store.Fetch(c.ctx, gitstore.FetchRequest{
		Remote: remote, Issues: issues, Timeout: c.remoteTimeout(), DryRun: c.flags.Bool("dry-run"),
		Quiet: !terminal.Has(), Progress: t.at,
	})
	t.end()
	return c.showShared(remote, done, err)
}

// toShare returns the remote and the issues of the command line. It returns no issues for
// --all.
func (c *Invocation) toShare() (remote string, issues []checkpoint.Issue, err error) {
	name := c.command
	if remote, err = c.remote(c.flags.String("remote")); err != nil {
		return "", nil, err
	}
	if !c.flags.Bool("all") {
		issue, err := c.issue()
		return remote, []checkpoint.Issue{issue}, err
	}
	if len(c.args) > 0 || c.flags.IsSet("issue") {
		return "", nil, exit.Usagef("%s: --all takes no issue", name)
	}
	return remote, nil, nil
}

// shareBudget returns the time limit of an operation with several connections.
func (c *Invocation) shareBudget() time.Duration {
	return time.Duration(c.settings.Int("sync_timeout")) * time.Second
}

// showShared prints the result of each issue. If only some issues failed, it returns a
// failure with exitPartial.
func (c *Invocation) showShared(remote string, done []gitstore.Synced, err error) error {
	failed := c.sharingFailed(done, err)
	if err != nil && len(done) == 0 {
		return failed
	}
	if c.json {
		out := output.Sync{Type: c.command, Remote: gitstore.ShownRemote(remote), Issues: []output.Synced{}}
		for _, s := range done {
			out.Issues = append(out.Issues, output.Synced{Issue: string(s.Issue), Fetched: s.Fetched, Pushed: s.Pushed, Joined: s.Joined, Result: s.Result})
		}
		return cmp.Or(c.write(out), failed)
	}
	var text strings.Builder // one write, because there may be thousands of lines
	for _, s := range done {
		text.WriteString(output.Clean(sharedLine(remote, s)) + "\n")
	}
	c.print("%s", text.String())
	return failed
}

// sharedLine describes the result of one issue.
func sharedLine(remote string, s gitstore.Synced) string {
	switch {
	case s.Result == gitstore.Absent:
		return fmt.Sprintf("issue %s: none on %s", s.Issue, gitstore.ShownRemote(remote))
	case s.Result == gitstore.Failed && s.Pushed > 0:
		return fmt.Sprintf("issue %s: %s: pushed %s", s.Issue, s.Result, phrase.Plural(s.Pushed, "checkpoint"))
	case s.Fetched > 0 && s.Pushed > 0:
		return fmt.Sprintf("issue %s: %s: fetched %d and pushed %s", s.Issue, s.Result, s.Fetched, phrase.Plural(s.Pushed, "checkpoint"))
	case s.Joined && s.Fetched > 0:
		return fmt.Sprintf("issue %s: %s: fetched %s", s.Issue, s.Result, phrase.Plural(s.Fetched, "checkpoint"))
	case s.Joined && s.Pushed > 0:
		return fmt.Sprintf("issue %s: %s: pushed %s", s.Issue, s.Result, phrase.Plural(s.Pushed, "checkpoint"))
	case s.Fetched > 0:
		return fmt.Sprintf("issue %s: %s %s", s.Issue, s.Result, phrase.Plural(s.Fetched, "checkpoint"))
	case s.Pushed > 0:
		return fmt.Sprintf("issue %s: %s %s", s.Issue, s.Result, phrase.Plural(s.Pushed, "checkpoint"))
	}
	return "issue " + string(s.Issue) + ": " + s.Result
}

// sharingFailed returns a failure that covers all issues that failed.
func (c *Invocation) sharingFailed(done []gitstore.Synced, err error) error {
	if err == nil && !slices.ContainsFunc(done, func(s gitstore.Synced) bool { return s.Err != nil }) {
		return nil
	}
	var issues []checkpoint.Issue
	why := map[checkpoint.Issue]error{}
	for _, s := range done {
		issues = append(issues, s.Issue)
		why[s.Issue] = s.Err
	}
	failed := c.each(issues, func(i checkpoint.Issue) error { return why[i] })
	if err == nil {
		return failed
	}
	if len(done) == 0 {
		return err
	}
	return exit.Errorf(exit.Partial, "", "%w", errors.Join(err, failed))
}
