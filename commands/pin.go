package commands

import (
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/gitstore/checkpoint"
)

var pinCommand = command{
	name: "pin", usage: "keep a checkpoint whatever retention says", args: "[ISSUE] ID", max: 2, category: "Keep",
	examples: []string{"git checkpoint pin 42 latest", "git checkpoint pin 1f0c9a2b"},
	run:      func(c *Invocation) error { return runPin(c, "pin", true) },
}

var unpinCommand = command{
	name: "unpin", usage: "let retention decide about a checkpoint again", args: "[ISSUE] ID", max: 2, category: "Keep",
	examples: []string{"git checkpoint unpin 42 1f0c9a2b"},
	run:      func(c *Invocation) error { return runPin(c, "unpin", false) },
}

func runPin(c *Invocation, name string, on bool) error {
	if err := c.open(); err != nil {
		return err
	}
	cp, err := c.checkpointArg(true)
	if err != nil {
		return err
	}
	changed, err := c.store.Pin(c.ctx, cp.Issue, cp.ID, on)
	if err != nil {
		return err
	}
	if cp.Archived && on {
		c.infof("%s is in the archive: it stays there, and does not come back to the chain", cp.ID)
	}
	result := map[bool]string{true: "pinned", false: "unpinned"}[on]
	if !changed {
		result = "already " + result
	}
	return c.showResult(name, cp.Issue, []checkpoint.ID{cp.ID}, result)
}

// showResult prints an action's result for each checkpoint.
func (c *Invocation) showResult(kind string, issue checkpoint.Issue, ids []checkpoint.ID, result string) error {
	if c.json {
		return c.write(output.ActionResult{Type: kind, Issue: string(issue), CheckpointIDs: phrase.Strings(ids), Result: result})
	}
	for _, id := range ids {
		c.print("%s %s\n", result, id)
	}
	return nil
}
