package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/outputs"
	"git-checkpoint/gitstore/trees"
)

// An OutputReport is what became of the files that a record refers to.
type OutputReport = outputs.Mismatches

func (s *Store) outputs() *outputs.Checker {
	return &outputs.Checker{Root: s.repo.Root, Objects: s.objects, Hasher: s.hasher}
}

// Outputs looks for the files that a record refers to. Locations outside the
// worktree are not looked at: they are missing. What a restore of the checkpoint
// puts back, as in a clone that has not seen it, is neither missing nor changed.
func (s *Store) Outputs(ctx context.Context, c *Checkpoint, r *checkpoint.Record) (OutputReport, error) {
	entries, err := s.entriesFor(c, r)
	if err != nil {
		return OutputReport{}, err
	}
	return s.outputs().Check(ctx, entries, r, s.restorePlan(c))
}

// PlanChanged reports whether the plan's file is neither what its digest says
// nor what a restore of the checkpoint makes that.
func (s *Store) PlanChanged(ctx context.Context, c *Checkpoint, place, digest string) (bool, error) {
	back := s.restorePlan(c)
	now, err := s.Digests(ctx, []string{place})
	return err == nil && now[place] != digest && !back.Restores(place, now[place], digest), err
}

// restorePlan is empty where the snapshot is not all there: then a file that is
// missing is missing.
func (s *Store) restorePlan(c *Checkpoint) outputs.RestorePlan {
	st, err := s.openSnapshot(c)
	if err != nil {
		return nil
	}
	targets, err := s.targets(st)
	if err != nil {
		return nil
	}
	return outputs.NewRestorePlan(targets)
}

// MissingOutputs lists the files that a record refers to and that are neither
// in the worktree nor among the checkpoint's artifacts.
func (s *Store) MissingOutputs(c *Checkpoint, r *checkpoint.Record) ([]string, error) {
	entries, err := s.entriesFor(c, r)
	if err != nil {
		return nil, err
	}
	return s.outputs().Missing(entries, r)
}

// entriesFor are those of a checkpoint's tree, where its record refers to files.
func (s *Store) entriesFor(c *Checkpoint, r *checkpoint.Record) ([]trees.Entry, error) {
	if len(r.Outputs()) == 0 {
		return nil, nil
	}
	return trees.Read(s.objects, c.Tree)
}

// keptOutputs are the files that the checkpoint before holds because its record
// refers to them (outputs.Checker.CarryOver). Whatever goes wrong, a save does without.
func (s *Store) keptOutputs(ctx context.Context, issue checkpoint.Issue) []string {
	before, _ := s.resumed(issue)
	if before == nil {
		c, err := s.readChain(ctx, issue, LiveRef(issue), 1)
		if err != nil || c.newest() == nil {
			return nil
		}
		before = c.newest()
	}
	entries, err := trees.Read(s.objects, before.Tree)
	if err != nil {
		return nil
	}
	return s.outputs().CarryOver(entries, func() (*checkpoint.Record, error) { return s.Record(before) })
}

// CheckPlace refuses a place below the root of the worktree that no checkpoint
// holds a file at, such as one that is git's own.
func CheckPlace(place string) error { return trees.CheckPath(place, trees.ModeFile) }

// IsTracked reports whether git tracks a file of the worktree, or one below it.
func (s *Store) IsTracked(ctx context.Context, place string) (bool, error) {
	out, err := s.git.Output(ctx, "--literal-pathspecs", "ls-files", "-z", "--", place)
	return len(out) > 0, err
}

// Digests returns what files of the worktree are now (outputs.Checker.Digests).
func (s *Store) Digests(ctx context.Context, places []string) (map[string]string, error) {
	return s.outputs().Digests(ctx, places)
}
