package commands

import (
	"cmp"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/gitstore/layout"
)

// remote returns the given remote, or the configured remote if the name is empty.
func (c *Invocation) remote(named string) (string, error) {
	if name := cmp.Or(named, c.settings.String("remote")); name != "" {
		return name, nil
	}
	return c.store.Remote(c.ctx)
}

// remoteTimeout returns the time limit of one connection.
func (c *Invocation) remoteTimeout() time.Duration {
	return time.Duration(c.settings.Int("remote_timeout")) * time.Second
}

// layoutFlag returns the layout of --as, or "" if it is not set.
func (c *Invocation) layoutFlag() (layout.Name, error) {
	if !c.flags.IsSet("as") {
		return "", nil
	}
	as, err := layout.Parse(c.flags.String("as"))
	if err != nil {
		return "", exit.Usagef("%s: --as: %w", c.command, err)
	}
	return as, nil
}
