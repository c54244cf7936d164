package commands

import (
	"cmp"
	"errors"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// watchedIssue returns the issue of automatic saves: the argument, or the issue
// that is named. usage is the hint if no issue is named.
func (c *Invocation) watchedIssue(usage string) (i checkpoint.Issue, err error) {
	if len(c.args) > 0 {
		return c.issue()
	}
	i, err = c.automaticIssue(usage)
	c.issueInQuestion = i
	return i, err
}

// issue returns the issue for commands with [ISSUE] as the only argument.
func (c *Invocation) issue() (checkpoint.Issue, error) { return c.issueAmong(c.issuesWithCheckpoints) }

// issueAmong is like issue, with other candidates if no argument names the issue.
func (c *Invocation) issueAmong(candidates func() ([]checkpoint.Issue, error)) (i checkpoint.Issue, err error) {
	defer func() { c.issueInQuestion = i }()
	if len(c.args) == 0 {
		return c.inferIssueAmong(candidates)
	}
	if i, err = parseIssue(c.args[0]); err == nil {
		err = c.agree(i)
	}
	return i, err
}

func parseIssue(s string) (checkpoint.Issue, error) {
	i, err := checkpoint.ParseIssue(s)
	if err != nil {
		return "", exit.Usagef("%w", err)
	}
	return i, nil
}

// agree returns an error if --issue differs from the issue of the arguments, because one
// of them would be ignored.
func (c *Invocation) agree(i checkpoint.Issue) error {
	if other := c.flags.String("issue"); other != "" && other != string(i) {
		return exit.Usagef("%s: two issues: %s and --issue %s", c.command, i, other)
	}
	return nil
}

// issueAndName returns the issue and the checkpoint name of a command with the arguments
// [ISSUE] [ID]. A single argument is the issue if an issue of that name exists.
func (c *Invocation) issueAndName() (i checkpoint.Issue, name string, err error) {
	defer func() { c.issueInQuestion = i }()
	switch len(c.args) {
	case 0:
		i, err = c.inferIssue()
		return i, gitstore.Latest, err
	case 1:
		return c.issueOrName(c.args[0])
	}
	if i, err = parseIssue(c.args[0]); err == nil {
		err = c.agree(i)
	}
	return i, c.args[1], err
}

// issueOrName decides whether a single argument is an issue or a checkpoint name.
// Checkpoint names have many forms, including imported ids. If no checkpoint matches, the
// argument is an issue without checkpoints, unless its form is that of a checkpoint name.
func (c *Invocation) issueOrName(arg string) (checkpoint.Issue, string, error) {
	i, err := checkpoint.ParseIssue(arg)
	if err == nil && c.store.HasIssue(c.ctx, i) {
		return i, gitstore.Latest, c.agree(i)
	}
	inferred, inferErr := c.inferIssue()
	if inferErr == nil {
		_, findErr := c.store.Find(c.ctx, inferred, arg)
		if !notFound(findErr) || namesCheckpoint(arg) || err != nil || c.flags.String("issue") != "" {
			return inferred, arg, nil
		}
	} else if err != nil || namesCheckpoint(arg) {
		return "", "", inferErr
	}
	return i, gitstore.Latest, nil
}

// notFound reports whether the error means that no checkpoint has the name, or that the
// issue has no checkpoint at all.
func notFound(err error) bool {
	var missing *gitstore.NotFoundError
	var none *gitstore.NoneError
	return errors.As(err, &missing) || errors.As(err, &none)
}

// namesCheckpoint reports whether a word has the form of a checkpoint name. A number
// counts as an issue.
func namesCheckpoint(s string) bool {
	return strings.HasPrefix(s, "CP-") || strings.HasPrefix(s, ":/") || strings.HasPrefix(s, "@{phase:") || strings.HasPrefix(s, gitstore.Latest) || s == gitstore.First ||
		len(s) >= 4 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == "" && strings.ContainsAny(s, "abcdef")
}

// checkpointArg returns the checkpoint that the arguments name. Commands that change a
// checkpoint require a name.
func (c *Invocation) checkpointArg(required bool) (*gitstore.Checkpoint, error) {
	if required && len(c.args) == 0 {
		return nil, exit.Errorf(exit.Usage, "git checkpoint list", "%s: which checkpoint?", c.command)
	}
	issue, name, err := c.issueAndName()
	if err != nil {
		return nil, err
	}
	if required && len(c.args) == 1 && name == gitstore.Latest && c.args[0] != gitstore.Latest {
		return nil, exit.Errorf(exit.Usage, "git checkpoint list "+phrase.QuoteArg(string(issue)), "%s: issue %s: which checkpoint?", c.command, issue)
	}
	cp, err := c.store.Find(c.ctx, issue, name)
	if err == nil && required && cp.ID == "" {
		return nil, exit.Errorf(exit.Invalid, "git checkpoint drop "+phrase.QuoteArg(string(issue))+" --all", "%s: commit %s: %s", c.command, cp.Commit, cp.Problem)
	}
	return cp, err
}

// errUnnamed reports that no option, variable or branch names the issue.
var errUnnamed = errors.New("no option, no variable and no branch names the issue")

// namedIssue returns the issue of --issue, GIT_CHECKPOINT_ISSUE or the branch. It fails
// with errUnnamed if all three are missing. Hooks and automatic saves write to no other
// issue.
func (c *Invocation) namedIssue() (checkpoint.Issue, error) {
	if s := cmp.Or(c.flags.String("issue"), c.env.Getenv("GIT_CHECKPOINT_ISSUE")); s != "" {
		return parseIssue(s)
	}
	branch, err := c.currentBranch()
	if err != nil {
		return "", err
	}
	if i, ok := checkpoint.IssueFromBranch(branch, c.settings.Pattern("issue_pattern")); ok {
		return i, nil
	}
	return "", errUnnamed
}

// currentBranch returns the branch of HEAD, or the branch of the CI job if HEAD is
// detached.
func (c *Invocation) currentBranch() (string, error) {
	branch, err := c.store.Branch(c.ctx)
	return cmp.Or(branch, c.ciBranch()), err
}

// automaticIssue returns the issue of an automatic save.
func (c *Invocation) automaticIssue(usage string) (checkpoint.Issue, error) {
	i, err := c.namedIssue()
	if errors.Is(err, errUnnamed) {
		return "", exit.Errorf(exit.Usage, usage, "%s: which issue? The branch names none: name it, or set GIT_CHECKPOINT_ISSUE", c.command)
	}
	return i, err
}

// inferIssue returns the issue if no argument names it: the issue of namedIssue, or the
// only issue with checkpoints.
func (c *Invocation) inferIssue() (checkpoint.Issue, error) {
	return c.inferIssueAmong(c.issuesWithCheckpoints)
}

func (c *Invocation) inferIssueAmong(candidates func() ([]checkpoint.Issue, error)) (checkpoint.Issue, error) {
	if i, err := c.namedIssue(); !errors.Is(err, errUnnamed) {
		return i, err
	}
	issues, err := candidates()
	switch {
	case err != nil:
		return "", err
	case len(issues) == 1:
		return issues[0], nil
	case len(issues) == 0:
		return "", exit.Errorf(exit.Usage, "git checkpoint save ISSUE", "which issue? The branch names none, and none has checkpoints")
	}
	return "", exit.Errorf(exit.Usage, "git checkpoint list --all", "which issue? Name one, or use --issue or GIT_CHECKPOINT_ISSUE: %s has checkpoints", oneOf(issues))
}

// issuesWithCheckpoints returns the issues whose chain is not empty.
func (c *Invocation) issuesWithCheckpoints() ([]checkpoint.Issue, error) {
	all, _, err := c.store.Issues(c.ctx, false)
	if err != nil {
		return nil, err
	}
	var issues []checkpoint.Issue
	for _, i := range all {
		l, err := c.store.List(c.ctx, i, 1)
		if err != nil || len(l.Checkpoints) > 0 { // a damaged chain counts too
			issues = append(issues, i)
		}
	}
	return issues, nil
}

// oneOf lists candidate issues, or the number of issues if the list is long.
func oneOf(issues []checkpoint.Issue) string {
	const few = 5
	names := phrase.Strings(issues)
	if len(names) > few {
		return "each of " + phrase.Plural(len(names), "issue")
	}
	return "each of " + phrase.List(names)
}

// ciBranch returns the branch that a CI job with a detached HEAD builds.
func (c *Invocation) ciBranch() string {
	for _, name := range []string{"GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"} {
		if v := c.env.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// tellStrange warns of refs among the chains whose names are not issue keys.
func (c *Invocation) tellStrange(names []string) {
	for _, name := range phrase.Few(names, 3) {
		c.warnf("%s is left out: it is no issue's key", name)
	}
}
