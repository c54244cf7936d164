package standing

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// Listed returns the JSON record of a checkpoint in a list.
func Listed(cp *gitstore.Checkpoint) output.Listed {
	return output.Listed{
		CheckpointID: string(cp.ID), Issue: string(cp.Issue), Commit: cp.Commit.String(), CreatedAt: cp.Created,
		Trigger: string(cp.Trigger), Phase: cp.Phase, Branch: cp.Branch, CanResume: cp.Resumable,
		Pinned: cp.Pinned, Valid: ProblemOf(cp) == "", LeftOut: cp.LeftOut, Note: cp.Note,
	}
}

// ProblemOf returns the reason why a checkpoint is unusable, or "". It examines the
// commit only, not the record.
func ProblemOf(cp *gitstore.Checkpoint) string {
	if cp.Later() {
		return "version " + cp.Version + ", needs an upgrade"
	}
	return cp.Problem
}

// ShowRecord prints a record. The encoder escapes unprintable text, and on a terminal
// CleanBlock escapes remaining control characters.
func ShowRecord(c *invoke.Invocation, r *checkpoint.Record, format string) error {
	encode := r.Encode
	if format == "json" {
		encode = func() ([]byte, error) {
			data, err := r.JSON()
			return append(data, '\n'), err
		}
	}
	data, err := encode()
	if err != nil {
		return err
	}
	if c.AtTerminal() {
		data = []byte(output.CleanBlock(string(data)))
	}
	defer c.Page()()
	if _, err = c.Out.Write(data); invoke.LeftPager(err) {
		return nil
	}
	return err
}
