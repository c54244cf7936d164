package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
	"git-checkpoint/freshness/issue"
	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// offlineFlag returns the --offline flag of commands that compare or record the issue.
func offlineFlag() cli.Flag {
	return &cli.BoolFlag{Name: "offline", Usage: "ask no program and no forge for the issue"}
}

// A source provides the current issue.
type source struct {
	kind    string // none, file, command, forge
	forge   *forge.Forge
	guessed bool // derived from the remote's URL, without configuration
}

// noSource is the reason for an unknown issue without a configured source.
const noSource = "no source for the issue is configured"

// source returns the configured source of the issue. The error gives the reason if the
// source cannot be used.
func (c *Invocation) source(i checkpoint.Issue) (source, error) {
	switch kind := c.settings.String("issue_source"); kind {
	case "none", "file":
		return source{kind: kind}, nil
	case "command":
		if c.settings.String("issue_command") == "" {
			return source{}, errors.New("issue_command is not set")
		}
		return source{kind: kind}, nil
	case "auto":
		return c.guessSource(i), nil
	default:
		f, err := c.forge(forge.Kind(kind))
		return source{kind: "forge", forge: f}, err
	}
}

// guessSource returns the first available source: a command, a file, or the forge of the
// remote.
func (c *Invocation) guessSource(i checkpoint.Issue) source {
	if c.settings.String("issue_command") != "" {
		return source{kind: "command"}
	}
	if c.settings.String("issue_file") != "" {
		return source{kind: "file"}
	}
	if _, err := c.fromFile(i); !errors.Is(err, issue.ErrNoSource) && !errors.Is(err, errBare) {
		return source{kind: "file"}
	}
	if f, err := c.forge(""); err == nil {
		return source{kind: "forge", forge: f, guessed: true}
	}
	return source{kind: "file"}
}

// currentIssue returns the current issue from its source, or the reason why it is
// unknown. A file in --issue-file must be readable.
func (c *Invocation) currentIssue(i checkpoint.Issue) (*freshness.SourceIssue, string, error) {
	if c.flags.IsSet("issue-file") {
		found, err := issue.FromFile(c.flags.String("issue-file"))
		if err != nil {
			return nil, "", exit.Usagef("%s: --issue-file: %w", c.command, err)
		}
		return found, "", nil
	}
	s, err := c.source(i)
	if err != nil {
		return nil, err.Error(), nil
	}
	found, err := c.ask(s, i)
	switch {
	case errors.Is(err, context.Canceled):
		return nil, "", err
	case errors.Is(err, issue.ErrNoSource):
		return nil, noSource, nil
	case err != nil:
		return nil, err.Error(), nil
	}
	return found, "", nil
}

// seenFor limits the age of a cached forge answer that a save may use instead of a new
// request.
const seenFor = time.Hour

// issueToSave returns the record's issue, or nil if the issue is unknown. Only a
// configured source is asked: a save in a clone of github.com must not wait for the
// network or make an unexpected request. The hasty triggers ask no source at all. In both
// cases a recent forge answer from status or resume is used, and at returns the answer's
// time.
func (c *Invocation) issueToSave(i checkpoint.Issue, trigger checkpoint.Trigger) (found *freshness.SourceIssue, at time.Time, err error) {
	c.offline = c.offline || c.flags.Bool("offline") || slices.Contains(hasty, trigger)
	if s, err := c.source(i); err == nil && s.forge != nil && (s.guessed || c.offline) && !c.flags.IsSet("issue-file") {
		found, at = s.forge.Seen(i)
		if age := c.env.Now().Sub(at); found == nil || age < 0 || age > seenFor {
			return nil, time.Time{}, nil
		}
		return found, at, nil
	}
	found, why, err := c.currentIssue(i)
	if found != nil && besideBody(found) > maxBeside {
		found, why = nil, "its title, labels and assignees are too long"
	}
	if err == nil && found == nil && why != "" && !slices.Contains(expected, why) {
		c.warnf("issue %s is not recorded as it is now: %s", i, why)
	}
	return found, time.Time{}, err
}

// maxBeside limits the size in bytes of the recorded issue fields other than the body, so
// that records stay small.
const maxBeside = 128 << 10

func besideBody(i *freshness.SourceIssue) int {
	n := len(i.Title)
	for _, text := range slices.Concat(i.Labels, i.Assignees) {
		n += len(text) + 8 // as an item of a YAML list
	}
	return n
}

// hasty are the triggers of saves that must not wait for a source.
var hasty = []checkpoint.Trigger{checkpoint.UserInterrupt, checkpoint.SessionEnd, checkpoint.Interval}

// expected are reasons for an unknown issue that need no warning.
var expected = []string{noSource, errBare.Error(), errOffline.Error()}

// ask reads the issue from a source, within issue_timeout.
func (c *Invocation) ask(s source, i checkpoint.Issue) (*freshness.SourceIssue, error) {
	switch s.kind {
	case "none":
		return nil, nil
	case "file":
		return c.fromFile(i)
	}
	if found := c.recent(s, i); found != nil {
		return found, nil
	}
	if c.offline || c.flags.Bool("offline") {
		return nil, errOffline
	}
	if s.kind == "command" {
		return within(c, func(ctx context.Context) (*freshness.SourceIssue, error) { return c.fromCommand(ctx, i) })
	}
	return within(c, func(ctx context.Context) (*freshness.SourceIssue, error) { return s.forge.Issue(ctx, i) })
}

// recent returns a cached forge answer for display to a person, so that a repeated status
// does not exhaust the forge's rate limit. Output for programs and the decision about a
// resume always need a new answer.
func (c *Invocation) recent(s source, i checkpoint.Issue) *freshness.SourceIssue {
	if s.forge == nil || !c.onlyLooks || c.flags.Bool("offline") {
		return nil
	}
	found, at := s.forge.Seen(i)
	most := time.Duration(c.settings.Int("issue_cache_seconds")) * time.Second
	if age := c.env.Now().Sub(at); age < 0 || age >= most {
		return nil
	}
	return found
}

// errOffline is the reason for an unknown issue in a hook or with --offline.
var errOffline = errors.New("its source was not asked")

// errBare is the reason for an unknown issue in a bare repository.
var errBare = errors.New("a bare repository has no issue file")

func (c *Invocation) fromFile(i checkpoint.Issue) (*freshness.SourceIssue, error) {
	if c.store.Root() == "" {
		return nil, errBare
	}
	return issue.File(c.store.Root(), string(i), c.settings.String("issue_file"))
}

func (c *Invocation) fromCommand(ctx context.Context, i checkpoint.Issue) (*freshness.SourceIssue, error) {
	cmd := issue.Command{
		Line: c.settings.String("issue_command"), Dir: c.store.Root(),
		// If the command runs this program, that run must not call the command again.
		Env: append(c.env.Environ[:len(c.env.Environ):len(c.env.Environ)],
			"GIT_CHECKPOINT_ISSUE="+string(i), "GIT_CHECKPOINT_ISSUE_SOURCE=none"),
	}
	if c.flags.Bool("verbose") {
		cmd.Stderr = c.env.Stderr
	}
	return cmd.Issue(ctx, string(i))
}

// within runs a question with the limit issue_timeout and abandons it afterwards. A
// credential helper may ignore the request to stop.
func within[T any](c *Invocation, ask func(context.Context) (T, error)) (T, error) {
	seconds := c.settings.Int("issue_timeout")
	ctx, cancel := context.WithTimeout(c.ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := ask(ctx)
		done <- answer{value, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		select {
		case a = <-done:
		case <-time.After(toExplain):
			a.err = fmt.Errorf("no answer in time: %w", ctx.Err())
		}
	}
	if errors.Is(a.err, context.DeadlineExceeded) {
		a.err = &lateError{seconds, a.err}
	}
	return a.value, a.err
}

// toExplain is the extra time in which a cancelled question may return its own error.
const toExplain = 200 * time.Millisecond

// A lateError adds the setting issue_timeout to the error of a slow source.
type lateError struct {
	seconds int
	err     error
}

func (e *lateError) Error() string {
	text := strings.TrimSuffix(e.err.Error(), ": "+context.DeadlineExceeded.Error())
	return fmt.Sprintf("%s (issue_timeout is %s)", text, phrase.Plural(e.seconds, "second"))
}

func (e *lateError) Unwrap() error { return e.err }

// forge returns the configured forge or the remote's forge. An empty kind accepts every
// forge.
func (c *Invocation) forge(kind forge.Kind) (*forge.Forge, error) {
	branch, _ := c.store.Branch(c.ctx)
	remote, err := issueRemote(c.store.Config(), branch, c.settings.String("issue_project"))
	if err != nil {
		return nil, err
	}
	site, err := forge.Choose(kind, remote, forge.Hosts{
		forge.GitHub: c.settings.Strings("github_hosts"),
		forge.GitLab: c.settings.Strings("gitlab_hosts"),
		forge.Gitea:  c.settings.Strings("gitea_hosts"),
	})
	if err != nil {
		return nil, err
	}
	return &forge.Forge{
		Site: site, SignIn: forge.SignIn{Getenv: c.env.Getenv, Run: c.runQuietly},
		Cache: filepath.Join(c.store.CacheDir(), "issues"), Now: c.env.Now,
		Network: func(ctx context.Context) forge.Network { return c.network(ctx, site) },
	}, nil
}
