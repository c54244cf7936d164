package commands

import (
	"fmt"
	"os"
	"path/filepath"
)

// clean removes the outputs that were left half done, where --clean asks for
// it. One that is whole by now, or no plain file, stays.
func (t *taskStep) clean() error {
	if !t.c.flags.Bool("clean") || len(t.broken) == 0 {
		return nil
	}
	root, err := os.OpenRoot(t.c.store.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	for _, place := range t.broken {
		name := filepath.FromSlash(place)
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || !t.c.taskOutput(place).Broken {
			continue
		}
		if err := root.Remove(name); err != nil {
			return fmt.Errorf("task recover --clean: %s: %w", quotePath(place), err)
		}
		t.c.say("removed %s", quotePath(place))
	}
	return nil
}
