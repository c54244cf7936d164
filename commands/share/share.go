// Package share has the commands that exchange checkpoints with a remote: sync, fetch and
// push.
package share

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// options holds the flags and the issues of a command of this package.
type options struct {
	remote   string             // named or configured remote
	remotes  []string           // for fetches, with remote
	all      bool               // every issue
	issues   []checkpoint.Issue // nil for all issues
	dryRun   bool
	archived bool // sync the archive too
	yes      bool // publish commits without confirmation
}

func (o *options) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "remote", Usage: "use `REMOTE` instead of the configured remote", Destination: &o.remote},
		&cli.BoolFlag{Name: "all", Usage: "include every issue", Destination: &o.all},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the actions without doing them", Destination: &o.dryRun},
	}
}

func (o *options) pushFlags() []cli.Flag {
	return append(o.flags(), &cli.BoolFlag{Name: "yes", Usage: "publish commits that no remote has, without a question", Destination: &o.yes})
}

func (o *options) syncFlags() []cli.Flag {
	return append(o.pushFlags(), &cli.BoolFlag{Name: "archived", Usage: "also exchange the archive", Destination: &o.archived})
}

// open opens the repository, and finds the remote and the issues.
func (o *options) open(c *invoke.Invocation) error {
	err := c.Open()
	if err != nil {
		return err
	}
	switch {
	case o.all && (len(c.Line.Args) > 0 || c.Line.Common.Issue != ""):
		return failure.Usagef("%s: --all takes no issue", c.Line.Name)
	case !o.all:
		issue, err := c.Issue()
		c.SkipIssue() // the result names it
		if o.issues = []checkpoint.Issue{issue}; err != nil {
			return err
		}
	}
	ask := c.PushRemotes
	if c.Line.Name == "fetch" {
		ask = c.FetchRemotes
	}
	if o.remotes, err = ask(o.remote, o.issues...); err == nil {
		o.remote = o.remotes[0]
	}
	return err
}

func (o *options) request(c *invoke.Invocation, progress func(done, total int)) gitstore.FetchRequest {
	return gitstore.FetchRequest{
		Remote: o.remote, Issues: o.issues, Timeout: c.RemoteTimeout(), DryRun: o.dryRun, Archived: o.archived,
		Quiet: !terminal.Has(), Progress: progress,
	}
}

func (o *options) gate(c *invoke.Invocation) *work.Gate {
	return &work.Gate{Invocation: c, Remote: o.remote, DryRun: o.dryRun, Yes: o.yes, Ask: true}
}

// showShared prints the result of each issue, and in JSON the untracked files that were pushed.
// If only some issues failed, it returns a failure with failure.Partial.
func showShared(c *invoke.Invocation, command string, o *options, untracked []string, done []gitstore.Synced, err error) error {
	failed := sharingFailed(c, done, err)
	if err != nil && len(done) == 0 {
		return failed
	}
	if failed == nil && len(done) == 1 && !o.all && done[0].Result == gitstore.Absent && !c.Store.HasIssue(c.Ctx, done[0].Issue) {
		failed = &gitstore.NoneError{Issue: done[0].Issue}
	}
	if c.Line.JSON {
		out := view.Sync{Type: command, DryRun: o.dryRun, Remote: gitstore.ShownRemote(o.remote), Issues: []view.Synced{}, Untracked: view.QuotePaths(untracked)}
		for _, s := range done {
			out.Issues = append(out.Issues, view.Synced{Issue: string(s.Issue), Fetched: s.Fetched, Pushed: s.Pushed, Joined: s.Joined, Result: s.Result, Archived: s.Facts.Archived, Dropped: s.Facts.Deleted})
		}
		return cmp.Or(c.WriteJSON(out), failed)
	}
	var text strings.Builder // one write, because there may be thousands of lines
	for _, s := range done {
		if len(done) == 1 && failed != nil && s.Fetched+s.Pushed == 0 {
			break // the error names the issue
		}
		text.WriteString(view.Clean(sharedLine(view.ShownRemotes(o.remotes), s)) + "\n")
	}
	c.Printf("%s", text.String())
	if len(done) == 0 {
		c.Infof("no issue has checkpoints")
	}
	if len(o.issues) != 1 || o.dryRun {
		return failed
	}
	if s := done[0]; s.Err == nil && s.Facts.Archived > 0 && (s.Result == gitstore.Fetched || s.Joined) {
		if e := work.EndingOf(c, s.Issue); e != nil { // its chain is empty now
			c.Infof("issue %s: %s", s.Issue, e.Text(c.Env.Now()))
			c.Infof("hint: git checkpoint status %s", view.IssueArg(s.Issue))
		}
	}
	return failed
}

// sharedLine describes the result of one issue: the exchanged checkpoints, and how many
// were archived or dropped. Prunes, pins and restores are named if nothing else was exchanged.
func sharedLine(remote string, s gitstore.Synced) string {
	line := checkpointsLine(remote, s)
	if s.Result == gitstore.UpToDate || s.Result == gitstore.Absent || s.Err != nil {
		return line
	}
	facts := counted(s.Facts.Archived, "archived")
	facts = append(facts, counted(s.Facts.Deleted, "dropped")...)
	if len(facts) == 0 && s.Fetched+s.Pushed == 0 {
		facts = slices.Concat(counted(s.Facts.Pruned, "pruned"), counted(s.Facts.Pins, "pinned or unpinned"), counted(s.Facts.Restored, "gone back to"))
	}
	switch {
	case len(facts) == 0:
		return line
	case s.Fetched+s.Pushed == 0:
		return line + ": " + view.List(facts)
	}
	return line + "; " + view.List(facts)
}

// counted returns a text such as "2 checkpoints archived", or nothing for 0.
func counted(n int, what string) []string {
	if n == 0 {
		return nil
	}
	return []string{view.Plural(n, "checkpoint") + " " + what}
}

func checkpointsLine(remote string, s gitstore.Synced) string {
	switch {
	case s.Result == gitstore.Absent:
		return fmt.Sprintf("issue %s: no checkpoints on %s", s.Issue, remote)
	case s.Result == gitstore.Failed && s.Pushed > 0, s.Joined && s.Pushed > 0 && s.Fetched == 0:
		return fmt.Sprintf("issue %s: %s: pushed %s", s.Issue, s.Result, view.Plural(s.Pushed, "checkpoint"))
	case s.Fetched > 0 && s.Pushed > 0:
		return fmt.Sprintf("issue %s: %s: fetched %d and pushed %s", s.Issue, s.Result, s.Fetched, view.Plural(s.Pushed, "checkpoint"))
	case s.Joined && s.Fetched > 0:
		return fmt.Sprintf("issue %s: %s: fetched %s", s.Issue, s.Result, view.Plural(s.Fetched, "checkpoint"))
	case s.Fetched+s.Pushed > 0:
		return fmt.Sprintf("issue %s: %s %s", s.Issue, s.Result, view.Plural(s.Fetched+s.Pushed, "checkpoint"))
	}
	return "issue " + string(s.Issue) + ": " + s.Result
}

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
	return failure.Errorf(failure.Partial, "", "%w", errors.Join(err, failed))
}
