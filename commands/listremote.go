package commands

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// issueListed returns the issue to list. With --remote it switches the list to the
// remote's checkpoints.
func (c *Invocation) issueListed() (checkpoint.Issue, error) {
	issue, err := c.issue()
	if err == nil {
		return issue, c.listThere(issue)
	}
	var usage *exit.Error
	if c.flags.IsSet("remote") && len(c.args) == 0 && errors.As(err, &usage) && usage.ExitCode() == exit.Usage {
		err = exit.Errorf(exit.Usage, c.listEverything(), "%w", err)
	}
	return "", err
}

// noneThere adds the hint for an issue without checkpoints on a remote: list all issues
// there, instead of a save.
func (c *Invocation) noneThere(none *gitstore.NoneError) error {
	if !c.flags.IsSet("remote") {
		return none
	}
	return exit.Errorf(exit.None, c.listEverything(), "%w", none)
}

// listEverything returns the command that lists all issues of the remote.
func (c *Invocation) listEverything() string {
	if named := c.flags.String("remote"); named != leftOut {
		return "git checkpoint list --all --remote=" + phrase.QuoteArg(gitstore.ShownRemote(named))
	}
	return "git checkpoint list --all --remote"
}

// listThere switches a list with --remote to the remote's checkpoints of the given
// issues. No issues means all issues.
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
