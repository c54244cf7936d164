package commands

import (
	"errors"

	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// issueListed is the issue that is listed, and makes the list one of what the
// remote has of it, where that is asked for.
func (c *Invocation) issueListed() (checkpoint.Issue, error) {
	issue, err := c.issue()
	if err == nil {
		return issue, c.listThere(issue)
	}
	var usage *failure
	if c.flags.IsSet("remote") && len(c.args) == 0 && errors.As(err, &usage) && usage.code == exitUsage {
		err = fail(exitUsage, c.listEverything(), "%w", err)
	}
	return "", err
}

// noneThere says where to look further: that there is nothing on a remote is no
// reason to save.
func (c *Invocation) noneThere(none *gitstore.NoneError) error {
	if !c.flags.IsSet("remote") {
		return none
	}
	return fail(exitNone, c.listEverything(), "%w", none)
}

// listEverything is the command that lists what else the remote has.
func (c *Invocation) listEverything() string {
	if named := c.flags.String("remote"); named != leftOut {
		return "git checkpoint list --all --remote=" + quoteArg(gitstore.ShownRemote(named))
	}
	return "git checkpoint list --all --remote"
}

// listThere makes a list with --remote one of what the remote has of issues, of
// all for none.
func (c *Invocation) listThere(issues ...checkpoint.Issue) error {
	if !c.flags.IsSet("remote") {
		return nil
	}
	named := c.flags.String("remote")
	if named == leftOut {
		named = ""
	}
	remote, err := c.remote(named)
	if err != nil {
		return err
	}
	t := c.tick("list: " + gitstore.ShownRemote(remote))
	there, err := c.store.OpenRemote(c.ctx, gitstore.OpenRemoteRequest{
		Remote: remote, Issues: issues, Archived: c.archive(), Timeout: c.remoteTimeout(), Quiet: !terminal.Has(),
	})
	t.end()
	if err != nil {
		return err
	}
	c.store.Close()
	c.store = there
	return nil
}
