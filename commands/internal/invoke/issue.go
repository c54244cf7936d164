package invoke

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

// WatchedIssue returns the issue of automatic saves: the argument, or the issue
// that is named. usage is the hint if no issue is named.
func (c *Invocation) WatchedIssue(usage string) (i checkpoint.Issue, err error) {
	if len(c.Args) > 0 {
		return c.Issue()
	}
	i, err = c.AutomaticIssue(usage)
	c.IssueInQuestion = i
	return i, err
}

// Issue returns the issue for commands with [ISSUE] as the only argument.
func (c *Invocation) Issue() (checkpoint.Issue, error) { return c.IssueAmong(c.IssuesWithCheckpoints) }

// IssueAmong is like Issue, with other candidates if no argument names the issue.
func (c *Invocation) IssueAmong(candidates func() ([]checkpoint.Issue, error)) (i checkpoint.Issue, err error) {
	defer func() { c.IssueInQuestion = i }()
	if len(c.Args) == 0 {
		return inferIssueAmong(c, candidates)
	}
	if i, err = ParseIssue(c.Args[0]); err == nil {
		err = Agree(c, i)
	}
	return i, err
}

// ParseIssue parses the key of an issue on the command line.
func ParseIssue(s string) (checkpoint.Issue, error) {
	i, err := checkpoint.ParseIssue(s)
	if err != nil {
		return "", exit.Usagef("%w", err)
	}
	return i, nil
}

// Agree returns an error if --issue differs from the issue of the arguments, because one
// of them would be ignored.
func Agree(c *Invocation, i checkpoint.Issue) error {
	if other := c.Common.Issue; other != "" && other != string(i) {
		return exit.Usagef("%s: two issues: %s and --issue %s", c.Name, i, other)
	}
	return nil
}

// IssueAndName returns the issue and the checkpoint name of a command with the arguments
// [ISSUE] [ID]. A single argument is the issue if an issue of that name exists.
func (c *Invocation) IssueAndName() (i checkpoint.Issue, name string, err error) {
	defer func() { c.IssueInQuestion = i }()
	switch len(c.Args) {
	case 0:
		i, err = c.InferIssue()
		return i, gitstore.Latest, err
	case 1:
		return c.IssueOrName(c.Args[0])
	}
	if i, err = ParseIssue(c.Args[0]); err == nil {
		err = Agree(c, i)
	}
	return i, c.Args[1], err
}

// IssueOrName decides whether a single argument is an issue or a checkpoint name.
// Checkpoint names have many forms, including imported ids. If no checkpoint matches, the
// argument is an issue without checkpoints, unless its form is that of a checkpoint name.
func (c *Invocation) IssueOrName(arg string) (checkpoint.Issue, string, error) {
	i, err := checkpoint.ParseIssue(arg)
	if err == nil && c.Store.HasIssue(c.Ctx, i) {
		return i, gitstore.Latest, Agree(c, i)
	}
	inferred, inferErr := c.InferIssue()
	if inferErr == nil {
		_, findErr := c.Store.Find(c.Ctx, inferred, arg)
		if !notFound(findErr) || NamesCheckpoint(arg) || err != nil || c.Common.Issue != "" {
			return inferred, arg, nil
		}
	} else if err != nil || NamesCheckpoint(arg) {
		return "", "", inferErr
	}
	return i, gitstore.Latest, nil
}

// NamesCheckpoint reports whether a word has the form of a checkpoint name. A number
// counts as an issue.
func NamesCheckpoint(s string) bool {
	return strings.HasPrefix(s, "CP-") || strings.HasPrefix(s, ":/") || strings.HasPrefix(s, "@{phase:") || strings.HasPrefix(s, gitstore.Latest) || s == gitstore.First ||
		len(s) >= 4 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == "" && strings.ContainsAny(s, "abcdef")
}

// CheckpointArg returns the checkpoint that the arguments name, otherwise the newest of
// the issue. If required is set, the arguments must name a checkpoint, and the checkpoint
// must be valid.
func (c *Invocation) CheckpointArg(required bool) (*gitstore.Checkpoint, error) {
	if required && len(c.Args) == 0 {
		return nil, exit.Errorf(exit.Usage, "git checkpoint list", "%s: which checkpoint?", c.Name)
	}
	issue, name, err := c.IssueAndName()
	if err != nil {
		return nil, err
	}
	if required && len(c.Args) == 1 && name == gitstore.Latest && c.Args[0] != gitstore.Latest {
		return nil, exit.Errorf(exit.Usage, "git checkpoint list "+phrase.QuoteArg(string(issue)), "%s: issue %s: which checkpoint?", c.Name, issue)
	}
	cp, err := c.Store.Find(c.Ctx, issue, name)
	if err == nil && required && cp.ID == "" {
		return nil, exit.Errorf(exit.Invalid, "git checkpoint drop "+phrase.QuoteArg(string(issue))+" --all", "%s: commit %s: %s", c.Name, cp.Commit, cp.Problem)
	}
	return cp, err
}

// ErrUnnamed reports that no option, variable or branch names the issue.
var ErrUnnamed = errors.New("no option, no variable and no branch names the issue")

// NamedIssue returns the issue of --issue, GIT_CHECKPOINT_ISSUE or the branch. It fails
// with ErrUnnamed if all three are missing. Hooks and automatic saves write to no other
// issue.
func (c *Invocation) NamedIssue() (checkpoint.Issue, error) {
	if s := cmp.Or(c.Common.Issue, c.Env.Getenv("GIT_CHECKPOINT_ISSUE")); s != "" {
		return ParseIssue(s)
	}
	branch, err := c.CurrentBranch()
	if err != nil {
		return "", err
	}
	if i, ok := checkpoint.IssueFromBranch(branch, c.Settings.Pattern("issue_pattern")); ok {
		return i, nil
	}
	return "", ErrUnnamed
}

// CurrentBranch returns the branch of HEAD, or the branch of the CI job if HEAD is
// detached.
func (c *Invocation) CurrentBranch() (string, error) {
	branch, err := c.Store.Branch(c.Ctx)
	return cmp.Or(branch, c.CIBranch()), err
}

// AutomaticIssue returns the issue of an automatic save.
func (c *Invocation) AutomaticIssue(usage string) (checkpoint.Issue, error) {
	i, err := c.NamedIssue()
	if errors.Is(err, ErrUnnamed) {
		return "", exit.Errorf(exit.Usage, usage, "%s: which issue? The branch names none: name it, or set GIT_CHECKPOINT_ISSUE", c.Name)
	}
	return i, err
}

// InferIssue returns the issue if no argument names it: the issue of NamedIssue, or the
// only issue with checkpoints.
func (c *Invocation) InferIssue() (checkpoint.Issue, error) {
	return inferIssueAmong(c, c.IssuesWithCheckpoints)
}

// IssuesWithCheckpoints returns the issues whose chain is not empty.
func (c *Invocation) IssuesWithCheckpoints() ([]checkpoint.Issue, error) {
	all, _, err := c.Store.Issues(c.Ctx, false)
	if err != nil {
		return nil, err
	}
	var issues []checkpoint.Issue
	for _, i := range all {
		l, err := c.Store.List(c.Ctx, i, 1)
		if err != nil || len(l.Checkpoints) > 0 { // a damaged chain counts too
			issues = append(issues, i)
		}
	}
	return issues, nil
}

// CIBranch returns the branch that a CI job with a detached HEAD builds.
func (c *Invocation) CIBranch() string {
	for _, name := range []string{"GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"} {
		if v := c.Env.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// TellStrange warns of refs among the chains whose names are not issue keys.
func TellStrange(c *Invocation, names []string) {
	for _, name := range phrase.Few(names, 3) {
		c.Warnf("%s is left out: it is no issue's key", name)
	}
}

// RecoveryCommand returns the command that recovers from the damage, or "".
func RecoveryCommand(c *Invocation, issue checkpoint.Issue) string {
	_, _, err := c.Store.NewestValid(c.Ctx, issue)
	var broken *gitstore.BrokenRefError
	switch {
	case err == nil:
		return "git checkpoint resume " + phrase.QuoteArg(string(issue)) + " --fallback"
	case !errors.As(err, &broken) || broken.Last.IsZero():
		return ""
	}
	restore := fmt.Sprintf("git update-ref %s %s", phrase.QuoteArg(broken.Ref), broken.Last)
	if broken.File != "" { // git does not overwrite an unreadable file
		restore = "rm -f " + phrase.QuoteArg(broken.File) + " && " + restore
	}
	return restore
}

// Remote returns the given remote, or the configured remote if the name is empty.
func (c *Invocation) Remote(named string) (string, error) {
	if name := cmp.Or(named, c.Settings.String("remote")); name != "" {
		return name, nil
	}
	return c.Store.Remote(c.Ctx)
}

// RemoteTimeout returns the time limit of one connection.
func (c *Invocation) RemoteTimeout() time.Duration {
	return time.Duration(c.Settings.Int("remote_timeout")) * time.Second
}

// LayoutFlag returns the layout of --as, or "" if it is not set.
func LayoutFlag(c *Invocation) (layout.Name, error) {
	if !c.Flags.IsSet("as") {
		return "", nil
	}
	as, err := layout.Parse(c.Flags.String("as"))
	if err != nil {
		return "", exit.Usagef("%s: --as: %w", c.Name, err)
	}
	return as, nil
}

func inferIssueAmong(c *Invocation, candidates func() ([]checkpoint.Issue, error)) (checkpoint.Issue, error) {
	if i, err := c.NamedIssue(); !errors.Is(err, ErrUnnamed) {
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

// oneOf lists candidate issues, or the number of issues if the list is long.
func oneOf(issues []checkpoint.Issue) string {
	const few = 5
	names := phrase.Strings(issues)
	if len(names) > few {
		return "each of " + phrase.Plural(len(names), "issue")
	}
	return "each of " + phrase.List(names)
}

// notFound reports whether the error means that no checkpoint has the name, or that the
// issue has no checkpoint at all.
func notFound(err error) bool {
	var missing *gitstore.NotFoundError
	var none *gitstore.NoneError
	return errors.As(err, &missing) || errors.As(err, &none)
}
