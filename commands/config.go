package commands

import (
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore"
)

var configCommand = command{
	name: "config", usage: "print every setting, its value and where it comes from", category: "Look",
	examples: []string{"git checkpoint config", "git config checkpoint.retention.batch-complete 5"},
	run:      runConfig,
}

func runConfig(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	result := output.Config{Type: "config"}
	for _, s := range c.settings.All() {
		s.Value = gitstore.ShownRemote(s.Value) // users paste this output elsewhere, so credentials in URLs are masked
		result.Settings = append(result.Settings, output.Setting{Key: s.Key, Value: s.Value, Origin: s.Origin})
		if !c.json {
			c.print("%s = %s  (%s)\n", s.Key, output.Clean(s.Value), output.Clean(s.Origin))
		}
	}
	if c.json {
		return c.write(result)
	}
	return nil
}
