package commands

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/checkpoint/tasks"
)

// taskOutputs returns the existing outputs of the running tasks.
func (c *Invocation) taskOutputs(l *tasks.List) map[string]tasks.Found {
	found, places := map[string]tasks.Found{}, map[string]string{}
	for _, t := range l.Running() {
		if t.Output == "" || c.store.Root() == "" {
			continue
		}
		if f := c.taskOutput(t.Output); f.Exists {
			found[t.ID], places[t.ID] = f, t.Output
		}
	}
	var list []string
	for _, place := range places {
		list = append(list, place)
	}
	digests, err := c.store.Digests(c.ctx, list)
	for id, f := range found {
		if err == nil {
			f.Digest = digests[places[id]]
			found[id] = f
		}
	}
	return found
}

// taskOutput examines an output. A JSON file must be complete and can contain a status.
func (c *Invocation) taskOutput(place string) tasks.Found {
	f, err := c.openPlain(place)
	if err != nil {
		return tasks.Found{Exists: errors.Is(err, errNotPlain)}
	}
	defer f.Close()
	if !strings.EqualFold(filepath.Ext(place), ".json") || f.size > maxOutput {
		return tasks.Found{Exists: true}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxOutput))
	if err != nil {
		return tasks.Found{Exists: true, Broken: true}
	}
	status, err := tasks.OutputStatus(data)
	return tasks.Found{Exists: true, Broken: err != nil, Status: status}
}

// maxOutput limits the bytes that are read of an output.
const maxOutput = 1 << 20
