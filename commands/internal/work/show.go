package work

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// ListedRecord returns the JSON record of a checkpoint in a list.
func ListedRecord(cp *gitstore.Checkpoint) view.Listed {
	return view.Listed{
		CheckpointID: string(cp.ID), Issue: string(cp.Issue), Commit: cp.Commit.String(), CreatedAt: cp.Created, ImportedAt: cp.Imported(),
		Trigger: string(cp.Trigger), Phase: cp.Phase, Branch: cp.Branch, CanResume: cp.Resumable && ProblemOf(cp) == "",
		Pinned: cp.Pinned, Valid: ProblemOf(cp) == "", LeftOut: cp.LeftOut, Note: cp.Note, SavedBy: cp.Author,
	}
}

// ProblemOf returns the reason why a checkpoint is unusable, or "": a problem of its commit,
// or of its record if the caller has read the record.
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
	return ShowText(c, data)
}

// ShowText prints a text that may contain control characters, in the pager if it is long.
func ShowText(c *invoke.Invocation, data []byte) error {
	if c.AtTerminal() {
		data = []byte(view.CleanBlock(string(data)))
	}
	defer c.Page()()
	_, err := c.Out.Write(data)
	if invoke.LeftPager(err) {
		return nil
	}
	return err
}
