package commands

import (
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// listThere makes a list with --remote one of what the remote has of issues, of
// all for none.
func (c *call) listThere(issues ...checkpoint.Issue) error {
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
	there, err := c.store.Glimpse(c.ctx, gitstore.GlimpseRequest{
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
