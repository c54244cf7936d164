package invoke

import (
	"cmp"
	"time"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/gitstore/layout"
)

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
