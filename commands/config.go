package commands

import (
	"slices"

	"git-checkpoint/commands/internal/config"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

var configCommand = invoke.Command{
	Name: "config", Usage: "print every setting, its value and its source", Max: 3, Category: "Look",
	Description: "Settings are changed with git config, for example\n\n    git config checkpoint.retention.turn 50\n\n" +
		"A settings file in the worktree can only keep more than the defaults. The commands of git\n" +
		"that set its other values are printed.",
	Examples:      []string{"git checkpoint config", "git config checkpoint.retention.batch-complete 5"},
	NeedsSettings: true,
	Run:           runConfig,
}

func runConfig(c *invoke.Invocation) error {
	if len(c.Line.Args) > 0 {
		return configInGit(c.Line.Args)
	}
	if err := c.Open(); err != nil {
		return err
	}
	result := view.Config{Type: "config"}
	for _, s := range c.Settings.All() {
		s.Value = gitstore.ShownRemote(s.Value) // users paste this output elsewhere, so credentials in URLs are masked
		result.Settings = append(result.Settings, s)
		if !c.Line.JSON {
			c.Printf("%s = %s  (%s)\n", s.Key, view.Clean(s.Value), view.Clean(s.Origin))
		}
	}
	if c.Line.JSON {
		return c.WriteJSON(result)
	}
	return nil
}

// configInGit returns the error for arguments of config, such as "set push auto", with the
// command of git that reads or sets the setting.
func configInGit(args []string) error {
	verb, words := "", args
	if slices.Contains([]string{"get", "set", "unset"}, words[0]) {
		verb, words = words[0], words[1:]
	}
	hint := "git checkpoint config" // lists the settings
	known := ""
	if len(words) > 0 {
		known = config.Known(words[0])
	}
	if known != "" {
		hint = "git config"
		if verb == "unset" {
			hint += " --unset"
		}
		hint += " " + config.GitName(known)
		if values := words[1:]; len(values) > 0 {
			hint += " " + view.QuoteArgs(values)
		}
	}
	return failure.Errorf(failure.Usage, hint, "config: unexpected argument %q; git config reads and sets settings", args[0])
}
