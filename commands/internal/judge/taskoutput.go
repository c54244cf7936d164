package judge

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// TaskOutputs returns the existing outputs of the running tasks.
func TaskOutputs(c *invoke.Invocation, l *tasks.List) map[string]tasks.Found {
	found, places := map[string]tasks.Found{}, map[string]string{}
	for _, t := range l.Running() {
		if t.Output == "" || c.Store.Root() == "" {
			continue
		}
		if f := TaskOutput(c, t.Output); f.Exists {
			found[t.ID], places[t.ID] = f, t.Output
		}
	}
	var list []string
	for _, place := range places {
		list = append(list, place)
	}
	digests, err := c.Store.Digests(c.Ctx, list)
	for id, f := range found {
		if err == nil {
			f.Digest = digests[places[id]]
			found[id] = f
		}
	}
	return found
}

// TaskOutput examines an output. A JSON file must be complete and can contain a status.
func TaskOutput(c *invoke.Invocation, place string) tasks.Found {
	f, err := invoke.OpenPlain(c, place)
	if err != nil {
		return tasks.Found{Exists: errors.Is(err, invoke.ErrNotPlain)}
	}
	defer f.Close()
	if !strings.EqualFold(filepath.Ext(place), ".json") || f.Size > maxOutput {
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
