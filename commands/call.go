package commands

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"git-checkpoint/commands/config"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// A call is one run of one command.
type call struct {
	ctx   context.Context
	env   *Env
	flags *cli.Context
	args  []string // before "--"
	paths []string // after it
	json  bool

	store    *gitstore.Store
	settings *config.Settings
}

// open opens the repository and reads the settings.
func (c *call) open() error {
	store, err := gitstore.Open(c.ctx, gitstore.Options{Dir: c.flags.String("C"), Now: c.env.Now})
	if err != nil {
		return err
	}
	c.store = store
	c.settings, err = config.Load(config.Sources{
		Root: store.Root(), Git: store.Config(), Environ: c.env.Environ, Getenv: c.env.Getenv,
	})
	for _, w := range c.settings.Warnings() {
		c.warn("%s", w)
	}
	return err
}

func (c *call) close() {
	if c.store != nil {
		c.store.Close()
	}
}

// warn tells of something on standard error.
func (c *call) warn(format string, args ...any) {
	if !c.flags.Bool("quiet") {
		fmt.Fprintf(c.env.Stderr, "warning: %s\n", output.Clean(fmt.Sprintf(format, args...)))
	}
}

// say tells what is being done on standard error, unless asked to be quiet.
func (c *call) say(format string, args ...any) {
	if !c.flags.Bool("quiet") && !c.json {
		fmt.Fprintf(c.env.Stderr, "%s\n", output.Clean(fmt.Sprintf(format, args...)))
	}
}

// print writes a result.
func (c *call) print(format string, args ...any) {
	fmt.Fprintf(c.env.Stdout, format, args...)
}

// write writes a JSON result.
func (c *call) write(v any) error { return output.Write(c.env.Stdout, v) }

// issue finds the issue of commands that take [ISSUE] alone.
func (c *call) issue() (checkpoint.Issue, error) {
	if len(c.args) > 0 {
		return parseIssue(c.args[0])
	}
	return c.inferIssue()
}

func parseIssue(s string) (checkpoint.Issue, error) {
	i, err := checkpoint.ParseIssue(s)
	if err != nil {
		return "", usagef("%w", err)
	}
	return i, nil
}

// issueAndName finds the issue and the name of a checkpoint for commands that
// take [ISSUE] [ID]. One argument is the issue when one of that name exists.
func (c *call) issueAndName() (checkpoint.Issue, string, error) {
	switch len(c.args) {
	case 0:
		i, err := c.inferIssue()
		return i, gitstore.Latest, err
	case 1:
		return c.issueOrName(c.args[0])
	}
	i, err := parseIssue(c.args[0])
	return i, c.args[1], err
}

func (c *call) issueOrName(arg string) (checkpoint.Issue, string, error) {
	i, err := checkpoint.ParseIssue(arg)
	if err == nil && c.store.HasIssue(c.ctx, i) {
		return i, gitstore.Latest, nil
	}
	inferred, inferErr := c.inferIssue()
	if inferErr == nil && (namesCheckpoint(arg) || err != nil) {
		return inferred, arg, nil
	}
	if err == nil && !namesCheckpoint(arg) {
		return i, gitstore.Latest, nil
	}
	return "", "", errors.Join(err, inferErr)
}

// namesCheckpoint reports whether a word has the form of a checkpoint's name.
func namesCheckpoint(s string) bool {
	return strings.HasPrefix(s, "CP-") || strings.HasPrefix(s, gitstore.Latest) || hexName.MatchString(s)
}

var hexName = regexp.MustCompile(`^[0-9a-f]{4,40}$`)

// checkpointArg finds the checkpoint that the arguments name; commands that
// change one want it named.
func (c *call) checkpointArg(required bool) (*gitstore.Checkpoint, error) {
	if required && len(c.args) == 0 {
		return nil, fail(exitUsage, "git checkpoint list", "which checkpoint?")
	}
	issue, name, err := c.issueAndName()
	if err != nil {
		return nil, err
	}
	if required && len(c.args) == 1 && name == gitstore.Latest && c.args[0] != gitstore.Latest {
		return nil, fail(exitUsage, "git checkpoint list "+quoteArg(string(issue)), "issue %s: which checkpoint?", issue)
	}
	return c.store.Find(c.ctx, issue, name)
}

// inferIssue finds the issue that nobody named: --issue, GIT_CHECKPOINT_ISSUE,
// the branch's name, the only issue there is.
func (c *call) inferIssue() (checkpoint.Issue, error) {
	for _, s := range []string{c.flags.String("issue"), c.env.Getenv("GIT_CHECKPOINT_ISSUE")} {
		if s != "" {
			return parseIssue(s)
		}
	}
	branch, err := c.store.Branch(c.ctx)
	if err != nil {
		return "", err
	}
	if branch == "" {
		branch = c.ciBranch()
	}
	if i, ok := checkpoint.IssueFromBranch(branch, c.settings.Pattern("issue_pattern")); ok {
		return i, nil
	}
	issues, _, err := c.store.Issues(c.ctx, false)
	if err != nil {
		return "", err
	}
	if len(issues) == 1 {
		return issues[0], nil
	}
	return "", fail(exitUsage, "git checkpoint list --all", "which issue? Name one, or use --issue or GIT_CHECKPOINT_ISSUE")
}

// ciBranch is the branch that a CI job on a detached HEAD works for.
func (c *call) ciBranch() string {
	for _, name := range []string{"GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"} {
		if v := c.env.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// quoteArg quotes a word of a command to type.
func quoteArg(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return output.Shell(s)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@~^-]+$`)

// each runs do for every issue and reports all that failed.
func (c *call) each(issues []checkpoint.Issue, do func(checkpoint.Issue) error) error {
	var failed []string
	var last error
	for _, i := range issues {
		if err := do(i); err != nil {
			failed, last = append(failed, err.Error()), err
		}
	}
	switch {
	case last == nil:
		return nil
	case len(issues) == 1:
		return last
	}
	return fail(exitPartial, "", "%d of %d issues failed:\n%s", len(failed), len(issues), strings.Join(failed, "\n"))
}
