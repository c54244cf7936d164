package list

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// issueListed returns the issue to list. With --remote it switches the list to the
// remote's checkpoints.
func issueListed(c *invoke.Invocation) (checkpoint.Issue, error) {
	issue, err := c.Issue()
	if err == nil {
		return issue, listThere(c, issue)
	}
	var usage *exit.Error
	if c.Flags.IsSet("remote") && len(c.Args) == 0 && errors.As(err, &usage) && usage.ExitCode() == exit.Usage {
		err = exit.Errorf(exit.Usage, listEverything(c), "%w", err)
	}
	return "", err
}

// noneThere adds the hint for an issue without checkpoints on a remote: list all issues
// there, instead of a save.
func noneThere(c *invoke.Invocation, none *gitstore.NoneError) error {
	if !c.Flags.IsSet("remote") {
		return none
	}
	return exit.Errorf(exit.None, listEverything(c), "%w", none)
}

// listEverything returns the command that lists all issues of the remote.
func listEverything(c *invoke.Invocation) string {
	if named := c.Flags.String("remote"); named != invoke.LeftOut {
		return "git checkpoint list --all --remote=" + phrase.QuoteArg(gitstore.ShownRemote(named))
	}
	return "git checkpoint list --all --remote"
}

// listThere switches a list with --remote to the remote's checkpoints of the given
// issues. No issues means all issues.
func listThere(c *invoke.Invocation, issues ...checkpoint.Issue) error {
	if !c.Flags.IsSet("remote") {
		return nil
	}
	named := c.Flags.String("remote")
	if named == invoke.LeftOut {
		named = ""
	}
	remote, err := c.Remote(named)
	if err != nil {
		return err
	}
	t := c.Tick("list: " + gitstore.ShownRemote(remote))
	there, err := c.Store.OpenRemote(c.Ctx, gitstore.OpenRemoteRequest{
		Remote: remote, Issues: issues, Archived: archive(c), Timeout: c.RemoteTimeout(), Quiet: !terminal.Has(),
	})
	t.End()
	if err != nil {
		return err
	}
	c.Store.Close()
	c.Store = there
	return nil
}
