package work

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/freshness/issue"
	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/trace"
)

// IssueOptions are the flags that select the source of the issue.
type IssueOptions struct {
	File    string       // file with the issue, or "" for the configured source
	Offline bool         // ask no program and no forge
	Recent  bool         // a recent answer of the forge suffices
	Known   *IssueAnswer // answer of the source to this command, or nil to ask the source
}

// An IssueAnswer is the answer of a source: the issue, or the reason why it is unknown.
type IssueAnswer struct {
	Issue *freshness.SourceIssue
	Why   string
}

// FileFlag returns the --issue-file flag.
func (o *IssueOptions) FileFlag(usage string) cli.Flag {
	return &cli.StringFlag{Name: "issue-file", Usage: usage, Destination: &o.File}
}

// OfflineFlag returns the --offline flag of commands that compare or record the issue.
func (o *IssueOptions) OfflineFlag() cli.Flag {
	return &cli.BoolFlag{Name: "offline", Usage: "ask no program and no forge for the issue", Destination: &o.Offline}
}

// A source provides the current issue.
type source struct {
	Kind    string // none, file, command, forge
	Forge   *forge.Forge
	Guessed bool // derived from the remote's URL, without configuration
}

// noSource is the reason for an unknown issue without a configured source.
const noSource = "no source for the issue is configured"

// ChooseIssueSource returns the configured source of the issue. The error gives the reason if the
// source cannot be used.
func ChooseIssueSource(c *invoke.Invocation, i checkpoint.Issue) (source, error) {
	switch kind := c.Settings.String("issue_source"); kind {
	case "none", "file":
		return source{Kind: kind}, nil
	case "command":
		if c.Settings.String("issue_command") == "" {
			return source{}, errors.New("issue_command is not set")
		}
		return source{Kind: kind}, nil
	case "auto":
		return guessSource(c, i), nil
	default:
		f, err := findForge(c, forge.Kind(kind))
		return source{Kind: "forge", Forge: f}, err
	}
}

// guessSource returns the first available source: a command, a file, or the forge of the
// remote.
func guessSource(c *invoke.Invocation, i checkpoint.Issue) source {
	if c.Settings.String("issue_command") != "" {
		return source{Kind: "command"}
	}
	if c.Settings.String("issue_file") != "" {
		return source{Kind: "file"}
	}
	if _, err := fromFile(c, i); !errors.Is(err, issue.ErrNoSource) && !errors.Is(err, errNoWorktree) {
		return source{Kind: "file"}
	}
	if f, err := findForge(c, ""); err == nil {
		return source{Kind: "forge", Forge: f, Guessed: true}
	}
	return source{Kind: "file"}
}

// CurrentIssue returns the current issue from its source, or the reason why it is
// unknown. A file in --issue-file must be readable.
func CurrentIssue(c *invoke.Invocation, i checkpoint.Issue, o IssueOptions) (IssueAnswer, error) {
	if o.Known != nil {
		return *o.Known, nil
	}
	if o.File != "" {
		found, err := issue.FromFile(o.File)
		if err != nil {
			return IssueAnswer{}, failure.Usagef("%s: --issue-file: %w", c.Line.Name, err)
		}
		return IssueAnswer{Issue: found}, nil
	}
	s, err := ChooseIssueSource(c, i)
	if err != nil {
		return IssueAnswer{Why: err.Error()}, nil
	}
	found, err := ask(c, s, i, o)
	switch {
	case errors.Is(err, context.Canceled):
		return IssueAnswer{}, err
	case errors.Is(err, issue.ErrNoSource):
		return IssueAnswer{Why: noSource}, nil
	case err != nil:
		return IssueAnswer{Why: err.Error()}, nil
	}
	return IssueAnswer{Issue: found}, nil
}

// IssueAbsent reports whether why, the reason for an unknown issue, is that no source is
// configured.
func IssueAbsent(c *invoke.Invocation, why string) bool {
	switch c.Settings.String("issue_source") {
	case "none":
		return true
	case "auto":
		named := c.Settings.String("issue_command") != "" || c.Settings.String("issue_file") != ""
		return !named && (why == noSource || why == errNoWorktree.Error())
	}
	return false
}

// seenFor limits the age of a cached forge answer that a save may use instead of a new
// request.
const seenFor = time.Hour

// IssueToSave returns the record's issue, or nil if the issue is unknown. Only a
// configured source is asked: a save in a clone of github.com must not wait for the
// network or make an unexpected request. The hasty triggers ask no source at all. In both
// cases a recent forge answer from status or resume is used, and at returns the answer's
// time.
func IssueToSave(c *invoke.Invocation, i checkpoint.Issue, trigger checkpoint.Trigger, o IssueOptions) (found *freshness.SourceIssue, at time.Time, err error) {
	o.Offline = o.Offline || c.Needs.Offline || slices.Contains(Hasty, trigger)
	c.Needs.Offline = o.Offline // git must not ask for a password either
	if s, err := ChooseIssueSource(c, i); err == nil && s.Forge != nil && (s.Guessed || o.Offline) && o.File == "" {
		found, at = s.Forge.Seen(i)
		if age := c.Env.Now().Sub(at); found == nil || age < 0 || age > seenFor {
			return nil, time.Time{}, nil
		}
		return found, at, nil
	}
	now, err := CurrentIssue(c, i, o)
	found, why := now.Issue, now.Why
	if found != nil {
		beside := len(found.Title)
		for _, text := range slices.Concat(found.Labels, found.Assignees) {
			beside += len(text) + 8 // as an item of a YAML list
		}
		if beside > maxBeside {
			found, why = nil, "its title, labels and assignees are too long"
		}
	}
	if err == nil && found == nil && why != "" && !slices.Contains(expected, why) {
		c.Warnf("issue %s: current state not recorded: %s", i, why)
	}
	return found, time.Time{}, err
}

// maxBeside limits the size in bytes of the recorded issue fields other than the body, so
// that records stay small.
const maxBeside = 128 << 10

// Hasty are the triggers of saves that must not wait for a source.
var Hasty = []checkpoint.Trigger{checkpoint.UserInterrupt, checkpoint.SessionEnd, checkpoint.Interval, checkpoint.Turn}

// expected are reasons for an unknown issue that need no warning.
var expected = []string{noSource, errNoWorktree.Error(), errOffline.Error()}

func ask(c *invoke.Invocation, s source, i checkpoint.Issue, o IssueOptions) (*freshness.SourceIssue, error) {
	switch s.Kind {
	case "none":
		return nil, nil
	case "file":
		return fromFile(c, i)
	}
	if found := recent(c, s, i, o); found != nil {
		return found, nil
	}
	if o.Offline {
		return nil, errOffline
	}
	if s.Kind == "command" {
		return Within(c, func(ctx context.Context) (*freshness.SourceIssue, error) {
			// If the command runs this program, that run must not call the command again.
			cmd := issue.Command{Line: c.Settings.String("issue_command"), Dir: c.Store.Root(), Env: slices.Concat(c.Env.Environ, invoke.IssueVariables(i, c.Store.GitDir()), []string{"GIT_CHECKPOINT_ISSUE_SOURCE=none"})}
			if c.Line.Common.Verbose {
				cmd.Stderr = c.Env.Stderr
			}
			return cmd.Issue(ctx, string(i))
		})
	}
	return Within(c, func(ctx context.Context) (*freshness.SourceIssue, error) { return s.Forge.Issue(ctx, i) })
}

// recent returns a cached forge answer for display to a person, so that a repeated status
// does not exhaust the forge's rate limit. Output for programs and the decision about a
// resume always need a new answer.
func recent(c *invoke.Invocation, s source, i checkpoint.Issue, o IssueOptions) *freshness.SourceIssue {
	if s.Forge == nil || !o.Recent || o.Offline {
		return nil
	}
	found, at := s.Forge.Seen(i)
	most := time.Duration(c.Settings.Int("timeouts.issue_cache")) * time.Second
	if age := c.Env.Now().Sub(at); age < 0 || age >= most {
		return nil
	}
	return found
}

// errOffline is the reason for an unknown issue in a hook or with --offline.
var errOffline = errors.New("not requested")

// errNoWorktree is the reason for an unknown issue in a bare repository or a git directory.
var errNoWorktree = errors.New("there is no issue file without a worktree")

func fromFile(c *invoke.Invocation, i checkpoint.Issue) (*freshness.SourceIssue, error) {
	if c.Store.Root() == "" {
		return nil, errNoWorktree
	}
	return issue.File(c.Store.Root(), string(i), c.Settings.String("issue_file"))
}

// Within runs a question with the limit timeouts.issue and abandons it afterwards. A
// credential helper may ignore the request to stop.
func Within[T any](c *invoke.Invocation, ask func(context.Context) (T, error)) (T, error) {
	seconds := c.Settings.Int("timeouts.issue")
	ctx, cancel := context.WithTimeout(c.Ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	// A cancelled question may return its own error.
	value, late, err := invoke.Await(ctx, 200*time.Millisecond, func() (T, error) { return ask(ctx) })
	if late {
		err = fmt.Errorf("timeout: %w", err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = &lateError{seconds, err}
	}
	return value, err
}

// A lateError adds the setting timeouts.issue to the error of a slow source.
type lateError struct {
	seconds int
	err     error
}

func (e *lateError) Error() string {
	text := strings.TrimSuffix(e.err.Error(), ": "+context.DeadlineExceeded.Error())
	return fmt.Sprintf("%s (timeouts.issue is %s)", text, view.Plural(e.seconds, "second"))
}

func (e *lateError) Unwrap() error { return e.err }

// chooseSite returns the site of a remote by the settings.
func chooseSite(c *invoke.Invocation, kind forge.Kind, remote forge.Remote) (forge.Site, error) {
	return forge.Choose(kind, remote, forge.Hosts{
		forge.GitHub: c.Settings.Strings("forges.github"),
		forge.GitLab: c.Settings.Strings("forges.gitlab"),
		forge.Gitea:  c.Settings.Strings("forges.gitea"),
	})
}

// ForgeSites returns the site of the issues, and the site of the branches and commits, which is
// another one for a fork. A site is zero if the repository names none.
func ForgeSites(c *invoke.Invocation) (issues, code forge.Site) {
	kind := forge.Kind("")
	switch source := c.Settings.String("issue_source"); source {
	case string(forge.GitHub), string(forge.GitLab), string(forge.Gitea):
		kind = forge.Kind(source)
	}
	branch, _ := c.CurrentBranch()
	if remote, err := issueRemote(c.Store.Config(), branch, c.Settings.String("issue_project")); err == nil {
		issues, _ = chooseSite(c, kind, remote)
	}
	if remote, err := remoteOf(c.Store.Config(), remoteNames(c.Store.Config(), branch)[1:]); err == nil {
		code, _ = chooseSite(c, kind, remote)
	}
	return issues, code
}

// findForge returns the configured forge or the remote's forge. An empty kind accepts every
// forge.
func findForge(c *invoke.Invocation, kind forge.Kind) (*forge.Forge, error) {
	branch, _ := c.CurrentBranch()
	remote, err := issueRemote(c.Store.Config(), branch, c.Settings.String("issue_project"))
	if err != nil {
		return nil, err
	}
	site, err := chooseSite(c, kind, remote)
	if err != nil {
		return nil, err
	}
	return &forge.Forge{
		Site: site, SignIn: forge.SignIn{Getenv: c.Env.Getenv, Run: func(ctx context.Context, stdin string, name string, args ...string) (string, error) {
			return runQuietly(c, ctx, stdin, name, args...)
		}},
		Cache: filepath.Join(c.Store.CacheDir(), "issues"), Share: c.Store.Share, Now: c.Env.Now,
		Network: func(ctx context.Context) forge.Network { return network(c, ctx, site) },
	}, nil
}

// quiet prevents credential programs from prompting. No person may be present, and no
// prompt is expected.
var quiet = []string{
	"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never",
	"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1",
}

// tokenVariables are removed from gh's environment, because gh sends these tokens to any
// requested host.
var tokenVariables = []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_DEBUG", "DEBUG"}

// runQuietly runs git or gh to get a credential. Their standard error is discarded.
func runQuietly(c *invoke.Invocation, ctx context.Context, stdin, name string, args ...string) (string, error) {
	if name == "git" {
		out, err := c.Store.Git().With(quiet...).Pipe(ctx, []byte(stdin), args...)
		return string(out), err
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	defer trace.Begin(trace.Process, trace.Words(path, args)).End()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(stdin), 100*time.Millisecond
	cmd.Env = append(slices.DeleteFunc(slices.Clone(c.Env.Environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(tokenVariables, name)
	}), quiet...)
	out, err := cmd.Output()
	return string(out), err
}
