package commands

import (
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// showCoverage prints the changed files that the checkpoint lacks, because a user may
// expect a copy of all changed files.
func (c *Invocation) showCoverage(r *checkpoint.Record) error {
	if c.store.Root() == "" {
		return nil
	}
	changed, uncovered, err := c.store.Uncovered(c.ctx, r)
	if err != nil {
		return err
	}
	c.print("Coverage: %d of %d changed files are in the checkpoint\n", len(changed)-len(uncovered), len(changed))
	for _, path := range uncovered {
		c.print("  not in it: %s\n", phrase.QuotePath(path))
	}
	return nil
}

// showDiffs prints issue body and file differences since the checkpoint.
func (c *Invocation) showDiffs(cp *gitstore.Checkpoint, v freshness.Verdict) error {
	for _, r := range v.Reasons {
		for _, line := range r.Diff {
			c.print("%s\n", output.Clean(line))
		}
	}
	for _, path := range v.Changed {
		diff, err := c.store.DiffSince(c.ctx, cp, path)
		if err != nil {
			return err
		}
		c.print("%s\n%s", phrase.QuotePath(path), output.CleanBlock(diff))
	}
	return nil
}
