package commands

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/gitstore"
)

var configCommand = invoke.Command{
	Name: "config", Usage: "print every setting, its value and where it comes from", Category: "Look",
	Examples: []string{"git checkpoint config", "git config checkpoint.retention.batch-complete 5"},
	Run:      runConfig,
}

func runConfig(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	result := output.Config{Type: "config"}
	for _, s := range c.Settings.All() {
		s.Value = gitstore.ShownRemote(s.Value) // users paste this output elsewhere, so credentials in URLs are masked
		result.Settings = append(result.Settings, output.Setting{Key: s.Key, Value: s.Value, Origin: s.Origin})
		if !c.JSON {
			c.Printf("%s = %s  (%s)\n", s.Key, output.Clean(s.Value), output.Clean(s.Origin))
		}
	}
	if c.JSON {
		return c.WriteJSON(result)
	}
	return nil
}
