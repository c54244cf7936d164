package commands

var undoCommand = command{
	name: "undo", usage: "take back the last restore, prune, drop or archive", args: "[ISSUE]", max: 1, category: "Keep",
	run: runUndo,
}

func runUndo(c *call) error {
	if err := c.open(); err != nil {
		return err
	}
	issue, err := c.issue()
	if err != nil {
		return err
	}
	done, err := c.store.Undo(c.ctx, issue)
	if err != nil {
		return err
	}
	if done.Restored == nil {
		return c.showResult("undo", issue, done.IDs, "brought back, dropped by "+done.What+":")
	}
	if c.json {
		return c.showResult("undo", issue, nil, done.What)
	}
	for _, path := range done.Restored.Restored {
		c.print("put back %s\n", quotePath(path))
	}
	for _, path := range done.Restored.Skipped {
		c.warn("%s changed since and stays as it is", quotePath(path))
	}
	return nil
}
