package commands

import (
	"fmt"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// push pushes issues, those of which it is known what that would show: a
// secret holds a chain back, commits that nobody else has are named. asking is
// called before a person is asked about these, nil where nobody is.
func (c *Invocation) push(req gitstore.PushRequest, asking func()) ([]gitstore.Synced, error) {
	ask := asking != nil && !req.DryRun
	req.Harmless = c.unobjectionable
	req.May = func(i checkpoint.Issue, out gitstore.Outgoing) error {
		if ask && out.Unpublished != "" {
			asking()
		}
		return c.mayShow(req.Remote, i, out, ask)
	}
	done, err := c.store.Push(c.ctx, req)
	c.tellPointers(req.Remote, done)
	return done, err
}

// tellPointers names the command that pushes what git-lfs keeps of what was
// pushed: our pushes leave that to it.
func (c *Invocation) tellPointers(remote string, done []gitstore.Synced) {
	var pushed []gitstore.Synced
	for _, s := range done {
		if s.Pushed > 0 && s.Err == nil {
			pushed = append(pushed, s)
		}
	}
	if !c.pointers || len(pushed) == 0 || c.flags.Bool("dry-run") {
		return
	}
	what := "--all " + quoteArg(remote)
	if len(pushed) == 1 {
		what = quoteArg(remote) + " " + quoteArg(gitstore.LiveRef(pushed[0].Issue))
	}
	c.infof("hint: git lfs push %s # what git-lfs keeps is not pushed with checkpoints", gitstore.ShownRemote(what))
}

// mayShow refuses to show a secret, and asks a person about commits that a push
// would publish beside those that were fetched.
func (c *Invocation) mayShow(remote string, i checkpoint.Issue, out gitstore.Outgoing, ask bool) error {
	secret, err := c.secretIn(i, out, c.flags.Command.Name)
	if err != nil {
		return err
	}
	if secret != nil {
		c.warnf("%s is pushed with what looks like a secret: %s in %s", i, secret.Rule, secret.Path)
	}
	if out.Unpublished == "" || !ask {
		return nil
	}
	return c.confirmPublishing(remote, i, out.Unpublished)
}

// unobjectionable reports that mayShow has nothing to say of what goes out.
func (c *Invocation) unobjectionable(out gitstore.Outgoing) bool {
	if out.Unpublished != "" {
		return false
	}
	found, err := c.store.Scan(c.ctx, c.scanRequest("", out))
	c.pointers = c.pointers || err == nil && found.Pointers > 0
	return err == nil && len(found.Found) == 0
}

// secretIn looks for secrets in what is known to go out, by a command. One fails
// unless it is only to be warned of; then it is returned, nil for none.
func (c *Invocation) secretIn(i checkpoint.Issue, out gitstore.Outgoing, by string) (*gitstore.Secret, error) {
	found, err := c.store.Scan(c.ctx, c.scanRequest(i, out))
	c.pointers = c.pointers || err == nil && found.Pointers > 0
	switch {
	case err != nil:
		return nil, fmt.Errorf("issue %s: look for secrets: %w", i, err)
	case len(found.Found) == 0:
		return nil, nil
	case c.settings.String("redact") != "warn":
		return nil, &secretsError{i, found.Found, by}
	}
	return &found.Found[0], nil
}

// scanRequest says how to look for secrets in what an issue's push would show.
func (c *Invocation) scanRequest(i checkpoint.Issue, out gitstore.Outgoing) gitstore.ScanRequest {
	return gitstore.ScanRequest{Issue: i, Out: out, Allow: c.settings.Strings("scan_allow"), Command: c.settings.String("scan_command")}
}

// confirmPublishing asks where there is somebody to ask, and else says it.
func (c *Invocation) confirmPublishing(remote string, i checkpoint.Issue, commit string) error {
	name := c.flags.Command.Name
	again := "git checkpoint " + name + " " + quoteArg(string(i)) + " --yes"
	what := fmt.Sprintf("the checkpoints of issue %s carry commit %.12s, which is not known to be on %s", i, commit, gitstore.ShownRemote(remote))
	tty, err := c.env.Tty()
	if err != nil || c.json || c.flags.Bool("yes") {
		c.warnf("%s", what)
		return nil
	}
	tty.Close()
	yes, err := c.confirm(what+". Publish it? [y/N] ", again)
	if err == nil && !yes {
		err = fail(exitRefused, again, "%s: issue %s: not pushed", name, i)
	}
	return err
}
