package share

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// FetchCommand declares git checkpoint fetch.
var FetchCommand = invoke.Command{
	Name: "fetch", Usage: "bring an issue's checkpoints from a remote", Args: "[ISSUE]", Max: 1, Category: "Share",
	Description: "A chain here that the remote's continues moves to it. One that has diverged stays\n" +
		"as it is; the remote's is kept under refs/git-checkpoint/remote/.",
	Examples: []string{"git checkpoint fetch 42", "git checkpoint fetch --all --remote backup"},
	Flags:    shareFlags,
	Run:      runFetch,
}

// shareFlags returns the flags of fetch and push.
func shareFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "remote", Usage: "the `REMOTE`, instead of the configured one"},
		&cli.BoolFlag{Name: "all", Usage: "every issue"},
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done, move nothing"},
	}
}

func runFetch(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	remote, issues, err := toShare(c, "fetch")
	if err != nil {
		return err
	}
	t := c.Tick("fetch: " + gitstore.ShownRemote(remote))
	done, err := c.Store.Fetch(c.Ctx, gitstore.FetchRequest{
		Remote: remote, Issues: issues, Timeout: c.RemoteTimeout(), DryRun: c.Flags.Bool("dry-run"),
		Quiet: !terminal.Has(), Progress: t.At,
	})
	t.End()
	return showShared(c, "fetch", remote, done, err)
}

// toShare returns the remote and the issues of the command line. It returns no issues for
// --all.
func toShare(c *invoke.Invocation, command string) (remote string, issues []checkpoint.Issue, err error) {
	if remote, err = c.Remote(c.Flags.String("remote")); err != nil {
		return "", nil, err
	}
	if !c.Flags.Bool("all") {
		issue, err := c.Issue()
		return remote, []checkpoint.Issue{issue}, err
	}
	if len(c.Args) > 0 || c.Common.Issue != "" {
		return "", nil, exit.Usagef("%s: --all takes no issue", command)
	}
	return remote, nil, nil
}

// shareBudget returns the time limit of an operation with several connections.
func shareBudget(c *invoke.Invocation) time.Duration {
	return time.Duration(c.Settings.Int("sync_timeout")) * time.Second
}

// showShared prints the result of each issue. If only some issues failed, it returns a
// failure with exit.Partial.
func showShared(c *invoke.Invocation, command, remote string, done []gitstore.Synced, err error) error {
	failed := sharingFailed(c, done, err)
	if err != nil && len(done) == 0 {
		return failed
	}
	if c.JSON {
		out := output.Sync{Type: command, Remote: gitstore.ShownRemote(remote), Issues: []output.Synced{}}
		for _, s := range done {
			out.Issues = append(out.Issues, output.Synced{Issue: string(s.Issue), Fetched: s.Fetched, Pushed: s.Pushed, Joined: s.Joined, Result: s.Result})
		}
		return cmp.Or(c.WriteJSON(out), failed)
	}
	var text strings.Builder // one write, because there may be thousands of lines
	for _, s := range done {
		text.WriteString(output.Clean(sharedLine(remote, s)) + "\n")
	}
	c.Printf("%s", text.String())
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
func sharingFailed(c *invoke.Invocation, done []gitstore.Synced, err error) error {
	if err == nil && !slices.ContainsFunc(done, func(s gitstore.Synced) bool { return s.Err != nil }) {
		return nil
	}
	var issues []checkpoint.Issue
	why := map[checkpoint.Issue]error{}
	for _, s := range done {
		issues = append(issues, s.Issue)
		why[s.Issue] = s.Err
	}
	failed := c.Each(issues, func(i checkpoint.Issue) error { return why[i] })
	if err == nil {
		return failed
	}
	if len(done) == 0 {
		return err
	}
	return exit.Errorf(exit.Partial, "", "%w", errors.Join(err, failed))
}
