package status

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// showCoverage prints the changed files that the checkpoint lacks, because a user may
// expect a copy of all changed files.
func showCoverage(c *invoke.Invocation, r *checkpoint.Record) error {
	if c.Store.Root() == "" {
		return nil
	}
	changed, uncovered, err := c.Store.Uncovered(c.Ctx, r)
	if err != nil {
		return err
	}
	c.Printf("Coverage: %d of %d changed files are in the checkpoint\n", len(changed)-len(uncovered), len(changed))
	for _, path := range uncovered {
		c.Printf("  not in it: %s\n", phrase.QuotePath(path))
	}
	return nil
}

// showDiffs prints issue body and file differences since the checkpoint.
func showDiffs(c *invoke.Invocation, cp *gitstore.Checkpoint, v freshness.Verdict) error {
	for _, r := range v.Reasons {
		for _, line := range r.Diff {
			c.Printf("%s\n", output.Clean(line))
		}
	}
	for _, path := range v.Changed {
		diff, err := c.Store.DiffSince(c.Ctx, cp, path)
		if err != nil {
			return err
		}
		c.Printf("%s\n%s", phrase.QuotePath(path), output.CleanBlock(diff))
	}
	return nil
}
