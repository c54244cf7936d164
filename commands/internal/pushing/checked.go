// Package pushing pushes checkpoints after it has checked them for secrets and unpublished
// commits.
package pushing

import (
	"fmt"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// An ExposureCheck checks the objects of a push for secrets and unpublished commits.
type ExposureCheck struct {
	Invocation *invoke.Invocation
	DryRun     bool // nothing is pushed
	Yes        bool // unpublished commits need no confirmation
	pointers   bool // a push contained pointers of git-lfs

	told map[string]bool // warnings and accepted questions, since a sync retries
}

// Push pushes issues after a check of the outgoing objects: a secret blocks the chain,
// and unpublished commits require a confirmation.
func (e *ExposureCheck) Push(req gitstore.PushRequest) ([]gitstore.Synced, error) {
	req.Harmless = e.Unobjectionable
	req.May = func(i checkpoint.Issue, out gitstore.Outgoing) error {
		return e.MayShow(req.Remote, i, out, !req.DryRun)
	}
	done, err := e.Invocation.Store.Push(e.Invocation.Ctx, req)
	e.TellPointers(req.Remote, done)
	return done, err
}

// TellPointers prints the command that pushes git-lfs content, because checkpoint pushes
// contain pointers only. It also names commits of submodules that were not pushed.
func (e *ExposureCheck) TellPointers(remote string, done []gitstore.Synced) {
	var pushed []gitstore.Synced
	for _, s := range done {
		if s.Pushed > 0 && s.Err == nil {
			pushed = append(pushed, s)
		}
	}
	if len(pushed) == 0 || e.DryRun {
		return
	}
	e.warnLocalCommits(pushed)
	if !e.pointers {
		return
	}
	what := "--all " + phrase.QuoteArg(remote)
	if len(pushed) == 1 {
		what = phrase.QuoteArg(remote) + " " + phrase.QuoteArg(gitstore.LiveRef(pushed[0].Issue))
	}
	e.Invocation.Infof("hint: git lfs push %s # what git-lfs keeps is not pushed with checkpoints", gitstore.ShownRemote(what))
}

// maxSubmoduleChecks limits the issues of one push whose newest checkpoint is searched for
// commits of submodules.
const maxSubmoduleChecks = 20

func (e *ExposureCheck) warnLocalCommits(pushed []gitstore.Synced) {
	c := e.Invocation
	for _, s := range pushed[:min(len(pushed), maxSubmoduleChecks)] {
		if newest, err := c.Store.Newest(c.Ctx, s.Issue); err == nil {
			c.WarnLocalCommits(newest)
		}
	}
}

// MayShow returns an error if the outgoing objects contain a secret. It asks a person
// about commits that the push would publish.
func (e *ExposureCheck) MayShow(remote string, i checkpoint.Issue, out gitstore.Outgoing, ask bool) error {
	secret, err := e.SecretIn(i, out)
	if err != nil {
		return err
	}
	if secret != nil {
		e.warnOnce(fmt.Sprintf("%s is pushed with a possible secret: %s in %s", i, secret.Rule, secret.Path))
	}
	if out.Unpublished == "" || !ask {
		return nil
	}
	return e.confirmPublishing(remote, i, out)
}

// warnOnce prints a warning unless an earlier attempt printed it.
func (e *ExposureCheck) warnOnce(text string) {
	if e.first(text) {
		e.Invocation.Warnf("%s", text)
	}
}

// first records a text, and reports whether it is new.
func (e *ExposureCheck) first(text string) bool {
	if e.told[text] {
		return false
	}
	if e.told == nil {
		e.told = map[string]bool{}
	}
	e.told[text] = true
	return true
}

// Unobjectionable reports whether MayShow has no objection to the outgoing objects.
func (e *ExposureCheck) Unobjectionable(out gitstore.Outgoing) bool {
	if out.Unpublished != "" {
		return false
	}
	found, err := e.Invocation.Store.Scan(e.Invocation.Ctx, ScanRequest(e.Invocation, "", out))
	e.pointers = e.pointers || err == nil && found.Pointers > 0
	return err == nil && len(found.Found) == 0
}

// SecretIn scans the outgoing objects for secrets and fails at the first secret. If
// redact is "warn", SecretIn returns the secret instead of an error, or nil without
// findings.
func (e *ExposureCheck) SecretIn(i checkpoint.Issue, out gitstore.Outgoing) (*gitstore.Secret, error) {
	found, err := e.Invocation.Store.Scan(e.Invocation.Ctx, ScanRequest(e.Invocation, i, out))
	e.pointers = e.pointers || err == nil && found.Pointers > 0
	switch {
	case err != nil:
		return nil, fmt.Errorf("issue %s: scan for secrets: %w", i, err)
	case len(found.Found) == 0:
		return nil, nil
	case e.Invocation.Settings.String("redact") != "warn":
		return nil, &SecretsError{i, found.Found}
	}
	return &found.Found[0], nil
}

// ScanRequest returns the scan of an issue's outgoing objects.
func ScanRequest(c *invoke.Invocation, i checkpoint.Issue, out gitstore.Outgoing) gitstore.ScanRequest {
	return gitstore.ScanRequest{Issue: i, Out: out, Allow: c.Settings.Strings("scan_allow"), Command: c.Settings.String("scan_command")}
}

// confirmPublishing asks for confirmation. Without a terminal it fails, unless --yes or
// publish_commits allows the push: commits that were pushed cannot be taken back.
func (e *ExposureCheck) confirmPublishing(remote string, i checkpoint.Issue, out gitstore.Outgoing) error {
	c, name := e.Invocation, e.Invocation.Name
	again := "git checkpoint " + name + " " + phrase.IssueArg(i) + " --yes"
	what := fmt.Sprintf("the checkpoints of issue %s include %s missing on %s", i, commitsText(out), gitstore.ShownRemote(remote))
	switch {
	case c.Settings.Bool("publish_commits"), e.told[what]:
		return nil
	case e.Yes:
		e.warnOnce(what)
		return nil
	}
	tty, err := c.Env.Tty()
	if err != nil || c.JSON {
		return exit.Errorf(exit.NeedsAnswer, again+"\ngit config checkpoint.publish-commits true", "%s: issue %s: not pushed: %s", name, i, what)
	}
	tty.Close()
	yes, err := c.Confirm(what+". Publish it? [y/N] ", again)
	switch {
	case err != nil:
		return err
	case !yes:
		return exit.Errorf(exit.Refused, again, "%s: issue %s: not pushed", name, i)
	}
	e.first(what)
	return nil
}

// commitsText describes the commits that a push would publish.
func commitsText(out gitstore.Outgoing) string {
	switch {
	case out.Commits == 1:
		return fmt.Sprintf("commit %.12s, which is", out.Unpublished)
	case out.Commits >= gitstore.MaxCommits:
		return fmt.Sprintf("%d or more commits, the newest %.12s, which are", gitstore.MaxCommits, out.Unpublished)
	}
	return fmt.Sprintf("%d commits, the newest %.12s, which are", out.Commits, out.Unpublished)
}

// A SecretsError reports a push that contained a secret and was stopped.
type SecretsError struct {
	issue checkpoint.Issue
	Found []gitstore.Secret
}

func (e *SecretsError) Error() string {
	text := fmt.Sprintf("issue %s: checkpoints not pushed: possible secret: %s in %s", e.issue, e.Found[0].Rule, e.Found[0].Path)
	if line := e.Found[0].Line; line > 0 {
		text += fmt.Sprintf(", line %d", line)
	}
	if n := len(e.Found) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// ExitCode returns the exit code of a push that was stopped by a secret.
func (e *SecretsError) ExitCode() int { return exit.Secrets }

// ExitHint returns the command that lists the secrets.
func (e *SecretsError) ExitHint() string {
	return "git checkpoint scan " + phrase.IssueArg(e.issue)
}
