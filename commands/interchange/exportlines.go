package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/mirror"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

// exportLines writes an issue's checkpoints for analysis, oldest first. Each line is a
// JSON object with the id of the previous checkpoint and the whole record. Without --dir,
// exportLines writes to standard output.
func exportLines(c *invoke.Invocation) error {
	if c.JSON && !c.Flags.IsSet("dir") {
		return exit.Usagef("export: --as jsonl is JSON already: leave out --json, or name a --dir")
	}
	if err := c.Open(); err != nil {
		return err
	}
	issue, err := c.Issue()
	if err != nil {
		return err
	}
	l, err := c.Store.List(c.Ctx, issue, 0)
	if err != nil {
		return err
	}
	if len(l.Checkpoints) == 0 {
		return &gitstore.NoneError{Issue: issue}
	}
	var lines bytes.Buffer
	for i := len(l.Checkpoints) - 1; i >= 0; i-- {
		before := ""
		if i+1 < len(l.Checkpoints) {
			before = string(l.Checkpoints[i+1].ID)
		}
		if err := tuple(c, &lines, &l.Checkpoints[i], before); err != nil {
			return err
		}
	}
	if !c.Flags.IsSet("dir") {
		_, err := lines.WriteTo(c.Out)
		return err
	}
	return putLines(c, issue.RefName()+".jsonl", issue, lines.Bytes())
}

// tuple writes the line of one checkpoint. The record is left out if it cannot be read.
func tuple(c *invoke.Invocation, w *bytes.Buffer, cp *gitstore.Checkpoint, before string) error {
	t := output.Tuple{
		Type: "tuple", ThreadID: string(cp.Issue), CheckpointID: string(cp.ID), ParentCheckpointID: before,
		Commit: cp.Commit.String(), Metadata: standing.Listed(cp),
	}
	r, err := c.Store.Record(cp)
	if err != nil {
		c.Warnf("%s has no record: %v", cp.ID, err)
		return output.Write(w, t)
	}
	data, err := r.JSON()
	t.Checkpoint = json.RawMessage(data)
	return errors.Join(err, output.Write(w, t))
}

// putLines writes the lines to a file in --dir.
func putLines(c *invoke.Invocation, name string, issue checkpoint.Issue, data []byte) error {
	dir := c.Flags.String("dir")
	x := &exporting{c: c, as: "jsonl", issue: issue, root: dir, below: ".", written: []string{name}}
	if err := x.checkPlace(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer root.Close()
	if err := mirror.Replace(root, name, layout.Output{Path: name, Data: data}); err != nil {
		return fmt.Errorf("export: %s: %w", phrase.QuotePath(name), err)
	}
	return x.show()
}
