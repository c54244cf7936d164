package capture

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
)

// An OutputReport lists the files that a record refers to and that are missing or
// changed.
type OutputReport = Mismatches

func (s *Capturer) outputs() *Checker {
	return &Checker{Root: s.Info.Root, Objects: s.Objects, Hasher: s.hasher}
}

// Outputs checks the files that a record refers to. Locations outside the worktree are
// not read and count as missing. A file that a restore of the checkpoint would create or
// update counts as neither missing nor changed. This is normal in a clone that has not
// restored the checkpoint.
func (s *Capturer) Outputs(ctx context.Context, c *chain.Checkpoint, r *checkpoint.Record) (OutputReport, error) {
	entries, err := s.entriesFor(c, r)
	if err != nil {
		return OutputReport{}, err
	}
	return s.outputs().Check(ctx, entries, r, s.restorePlan(c))
}

// PlanChanged reports whether the plan file differs from its digest, and a restore of the
// checkpoint would not correct this.
func (s *Capturer) PlanChanged(ctx context.Context, c *chain.Checkpoint, place, digest string) (bool, error) {
	back := s.restorePlan(c)
	now, err := s.Digests(ctx, []string{place})
	return err == nil && now[place] != digest && !back.Restores(place, now[place], digest), err
}

// restorePlan returns the paths that a restore would write. It is empty if the snapshot
// is incomplete.
func (s *Capturer) restorePlan(c *chain.Checkpoint) RestorePlan {
	st, err := s.OpenSnapshot(c)
	if err != nil {
		return nil
	}
	targets, err := s.Targets(st)
	if err != nil {
		return nil
	}
	return NewRestorePlan(targets)
}

// MissingOutputs returns the files that a record refers to and that are neither in the
// worktree nor among the checkpoint's artifacts.
func (s *Capturer) MissingOutputs(c *chain.Checkpoint, r *checkpoint.Record) ([]string, error) {
	entries, err := s.entriesFor(c, r)
	if err != nil {
		return nil, err
	}
	return s.outputs().Missing(entries, r)
}

// entriesFor returns a checkpoint's tree entries, or nil if its record references no
// files.
func (s *Capturer) entriesFor(c *chain.Checkpoint, r *checkpoint.Record) ([]trees.Entry, error) {
	if len(r.Outputs()) == 0 {
		return nil, nil
	}
	return trees.Read(s.Objects, c.Tree)
}

// KeptOutputs returns the files that the previous checkpoint contains because its record
// refers to them (Checker.CarryOver). If an error occurs, the save continues
// without these files.
func (s *Capturer) KeptOutputs(ctx context.Context, issue checkpoint.Issue) []string {
	before, _ := s.LastResumed(issue)
	if before == nil {
		c, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 1)
		if err != nil || c.Newest() == nil {
			return nil
		}
		before = c.Newest()
	}
	entries, err := trees.Read(s.Objects, before.Tree)
	if err != nil {
		return nil
	}
	return s.outputs().CarryOver(entries, func() (*checkpoint.Record, error) { return s.Record(before) })
}

// CheckPlace fails if a checkpoint cannot contain a file at this path relative to the
// root, for example because git reserves the path.
func CheckPlace(place string) error { return trees.CheckPath(place, trees.ModeFile) }

// IsTracked reports whether git tracks a worktree file, or any file below a directory.
func (s *Capturer) IsTracked(ctx context.Context, place string) (bool, error) {
	out, err := s.Git.Output(ctx, "--literal-pathspecs", "ls-files", "-z", "--", place)
	return len(out) > 0, err
}

// Digests returns the current digests of worktree files (Checker.Digests).
func (s *Capturer) Digests(ctx context.Context, places []string) (map[string]string, error) {
	return s.outputs().Digests(ctx, places)
}
