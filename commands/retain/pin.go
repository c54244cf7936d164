package retain

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore/checkpoint"
)

// PinCommand declares git checkpoint pin.
var PinCommand = invoke.Command{
	Name: "pin", Usage: "keep a checkpoint whatever retention says", Args: "[ISSUE] ID", Max: 2, Category: "Keep",
	Examples: []string{"git checkpoint pin 42 latest", "git checkpoint pin 1f0c9a2b"},
	Run:      func(c *invoke.Invocation) error { return runPin(c, "pin", true) },
}

// UnpinCommand declares git checkpoint unpin.
var UnpinCommand = invoke.Command{
	Name: "unpin", Usage: "let retention decide about a checkpoint again", Args: "[ISSUE] ID", Max: 2, Category: "Keep",
	Examples: []string{"git checkpoint unpin 42 1f0c9a2b"},
	Run:      func(c *invoke.Invocation) error { return runPin(c, "unpin", false) },
}

func runPin(c *invoke.Invocation, name string, on bool) error {
	if err := c.Open(); err != nil {
		return err
	}
	cp, err := c.CheckpointArg(true)
	if err != nil {
		return err
	}
	changed, err := c.Store.Pin(c.Ctx, cp.Issue, cp.ID, on)
	if err != nil {
		return err
	}
	if cp.Archived && on {
		c.Infof("%s is in the archive: it stays there, and does not come back to the chain", cp.ID)
	}
	result := map[bool]string{true: "pinned", false: "unpinned"}[on]
	if !changed {
		result = "already " + result
	}
	return showResult(c, name, cp.Issue, []checkpoint.ID{cp.ID}, result)
}

// showResult prints an action's result for each checkpoint.
func showResult(c *invoke.Invocation, kind string, issue checkpoint.Issue, ids []checkpoint.ID, result string) error {
	if c.JSON {
		return c.WriteJSON(output.ActionResult{Type: kind, Issue: string(issue), CheckpointIDs: phrase.Strings(ids), Result: result})
	}
	for _, id := range ids {
		c.Printf("%s %s\n", result, id)
	}
	return nil
}
