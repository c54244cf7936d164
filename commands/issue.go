package commands

import (
	"errors"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// watchedIssue returns the issue of automatic saves: the argument, or the issue
// that is named.
func (c *Invocation) watchedIssue() (i checkpoint.Issue, err error) {
	if len(c.args) > 0 {
		return c.issue()
	}
	i, err = c.automaticIssue()
	c.issueInQuestion = i
	return i, err
}

// issue finds the issue of commands that take [ISSUE] alone.
func (c *Invocation) issue() (i checkpoint.Issue, err error) {
	defer func() { c.issueInQuestion = i }()
	if len(c.args) == 0 {
		return c.inferIssue()
	}
	if i, err = parseIssue(c.args[0]); err == nil {
		err = c.agree(i)
	}
	return i, err
}

func parseIssue(s string) (checkpoint.Issue, error) {
	i, err := checkpoint.ParseIssue(s)
	if err != nil {
		return "", usagef("%w", err)
	}
	return i, nil
}

// agree fails when --issue names another issue than the arguments do: one of
// the two would be ignored.
func (c *Invocation) agree(i checkpoint.Issue) error {
	if other := c.flags.String("issue"); other != "" && other != string(i) {
		return usagef("%s: two issues: %s and --issue %s", c.flags.Command.Name, i, other)
	}
	return nil
}

// issueAndName finds the issue and the name of a checkpoint for commands that
// take [ISSUE] [ID]. One argument is the issue when one of that name exists.
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

// issueOrName decides what a single argument is. Names of checkpoints are of
// many forms, those of imported ones too; what names none is taken for an
// issue that has no checkpoint, unless its form says otherwise.
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

// notFound reports that the issue is there and no checkpoint goes by the name,
// or that there is no checkpoint at all.
func notFound(err error) bool {
	var missing *gitstore.NotFoundError
	var none *gitstore.NoneError
	return errors.As(err, &missing) || errors.As(err, &none)
}

// namesCheckpoint reports whether a word can only name a checkpoint. A number
// is rather an issue.
func namesCheckpoint(s string) bool {
	return strings.HasPrefix(s, "CP-") || strings.HasPrefix(s, ":/") || strings.HasPrefix(s, "@{phase:") || strings.HasPrefix(s, gitstore.Latest) || s == gitstore.First ||
		len(s) >= 4 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == "" && strings.ContainsAny(s, "abcdef")
}

// checkpointArg finds the checkpoint that the arguments name; commands that
// change one want it named.
func (c *Invocation) checkpointArg(required bool) (*gitstore.Checkpoint, error) {
	if required && len(c.args) == 0 {
		return nil, fail(exitUsage, "git checkpoint list", "%s: which checkpoint?", c.flags.Command.Name)
	}
	issue, name, err := c.issueAndName()
	if err != nil {
		return nil, err
	}
	if required && len(c.args) == 1 && name == gitstore.Latest && c.args[0] != gitstore.Latest {
		return nil, fail(exitUsage, "git checkpoint list "+quoteArg(string(issue)), "%s: issue %s: which checkpoint?", c.flags.Command.Name, issue)
	}
	cp, err := c.store.Find(c.ctx, issue, name)
	if err == nil && required && cp.ID == "" {
		return nil, fail(exitInvalid, "git checkpoint drop "+quoteArg(string(issue))+" --all", "%s: commit %s: %s", c.flags.Command.Name, cp.Commit, cp.Problem)
	}
	return cp, err
}

// errUnnamed reports that nothing names the issue.
var errUnnamed = errors.New("no option, no variable and no branch names the issue")

// namedIssue returns the issue that --issue, GIT_CHECKPOINT_ISSUE or the branch
// names. It fails with errUnnamed if none of them does. Hooks and automatic saves
// write to no other issue.
func (c *Invocation) namedIssue() (checkpoint.Issue, error) {
	if s := first(c.flags.String("issue"), c.env.Getenv("GIT_CHECKPOINT_ISSUE")); s != "" {
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

// currentBranch returns the branch that HEAD is on, or the branch of the CI job
// if HEAD is detached.
func (c *Invocation) currentBranch() (string, error) {
	branch, err := c.store.Branch(c.ctx)
	return first(branch, c.ciBranch()), err
}

// automaticIssue returns the issue of a save that nobody watches.
func (c *Invocation) automaticIssue() (checkpoint.Issue, error) {
	i, err := c.namedIssue()
	if errors.Is(err, errUnnamed) {
		name := c.flags.Command.Name
		hint := "git checkpoint " + name + " ISSUE"
		if name == "run" {
			hint += " -- CMD"
		}
		return "", fail(exitUsage, hint, "%s: which issue? The branch names none: name it, or set GIT_CHECKPOINT_ISSUE", name)
	}
	return i, err
}

// inferIssue returns the issue if no argument names it: the one of namedIssue,
// else the only issue that has checkpoints.
func (c *Invocation) inferIssue() (checkpoint.Issue, error) {
	if i, err := c.namedIssue(); !errors.Is(err, errUnnamed) {
		return i, err
	}
	issues, err := c.issuesWithCheckpoints()
	if err == nil && len(issues) == 0 && c.flags.Command.Name == "undo" {
		issues, _, err = c.store.Issues(c.ctx, false) // what emptied a chain can be undone
	}
	switch {
	case err != nil:
		return "", err
	case len(issues) == 1:
		return issues[0], nil
	case len(issues) == 0:
		return "", fail(exitUsage, "git checkpoint save ISSUE", "which issue? The branch names none, and none has checkpoints")
	}
	return "", fail(exitUsage, "git checkpoint list --all", "which issue? Name one, or use --issue or GIT_CHECKPOINT_ISSUE: %s has checkpoints", oneOf(issues))
}

// issuesWithCheckpoints leaves out chains that were emptied.
func (c *Invocation) issuesWithCheckpoints() ([]checkpoint.Issue, error) {
	all, _, err := c.store.Issues(c.ctx, false)
	if err != nil {
		return nil, err
	}
	var issues []checkpoint.Issue
	for _, i := range all {
		l, err := c.store.List(c.ctx, i, 1)
		if err != nil || len(l.Checkpoints) > 0 { // a damaged chain is one to choose too
			issues = append(issues, i)
		}
	}
	return issues, nil
}

// oneOf lists issues to choose from, the first few.
func oneOf(issues []checkpoint.Issue) string {
	const few = 5
	names := texts(issues)
	if len(names) > few {
		return "each of " + plural(len(names), "issue")
	}
	return "each of " + list(names)
}

// ciBranch is the branch that a CI job on a detached HEAD works for.
func (c *Invocation) ciBranch() string {
	for _, name := range []string{"GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"} {
		if v := c.env.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}
