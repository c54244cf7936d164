package gitstore

import (
	"context"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/save"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/trace"
)

// A PruneRequest holds the parameters of a prune.
type PruneRequest = save.PruneRequest

// LayoutRules are the rules for chains of one layout. A zero field keeps the general
// rule.
type LayoutRules = save.LayoutRules

// A Pruned is the result of a prune.
type Pruned = save.Pruned

// Prune applies retention to an issue's chain and archive.
func (s *Store) Prune(ctx context.Context, req PruneRequest) (*Pruned, error) {
	defer trace.Begin(trace.Step, "prune").End()
	if req.DryRun { // otherwise the prune repairs the chain itself, under the issue lock
		s.chains.RepairIfRewritten(ctx, req.Issue)
	}
	return s.saver.Prune(ctx, req)
}

// A SaveRequest holds the parameters of a save.
type SaveRequest = save.SaveRequest

// An Others keeps the list of the untracked files for several saves that follow each other.
type Others = snapshot.Others

// A Saved is the result of a save.
type Saved = save.Saved

// Save saves a checkpoint. In the same move of the ref it drops checkpoints that
// retention no longer keeps. If Save returns without an error, the checkpoint is durable
// and in the chain.
func (s *Store) Save(ctx context.Context, req SaveRequest) (*Saved, error) {
	defer trace.Begin(trace.Step, "save").End()
	// Save repairs the chain itself when it holds the issue lock. Two saves read other
	// checkpoints without the lock: a save after a resume, and a dry run of an import.
	if s.chains.ReadResumed(req.Issue).ID != "" || req.Keep && req.DryRun {
		s.chains.RepairIfRewritten(ctx, req.Issue)
	}
	saved, err := s.saver.Save(ctx, req)
	if err != nil || saved.DryRun {
		return saved, err
	}
	if failed, err := s.capturer.KeepContent(&saved.Checkpoint); err != nil {
		saved.Warnings = append(saved.Warnings, fmt.Sprintf("git lfs prune can delete the content of %d files in this checkpoint, which could not be kept: %v", len(failed), err))
	}
	return saved, nil
}

// Together runs f, which saves, archives or prunes checkpoints of issues with this store. After f has
// returned, one transaction moves all refs, with message in the reflogs. If ctx is cancelled in f, the
// transaction still moves the refs of the operations that f has completed.
//
// If Together returns an error other than a DoneError, no ref has moved, and f may not have run. The
// error may concern only one issue, so the caller repeats the operations one by one.
func (s *Store) Together(ctx context.Context, message string, issues []checkpoint.Issue, f func()) error {
	return s.repo.Together(ctx, message, issues, f)
}

// Consolidate packs the loose objects that this program has written, if there are many.
// Saves of agents at each turn would otherwise leave thousands of files.
func (s *Store) Consolidate(ctx context.Context) error {
	defer trace.Begin(trace.Step, "pack objects").End()
	return s.repo.Consolidate(ctx, repo.LooseLimit)
}

// PacksInBackground reports whether Consolidate has objects to pack, and git's settings
// allow a process in the background: maintenance.autoDetach or, without it, gc.autoDetach.
func (s *Store) PacksInBackground() bool {
	if !s.repo.IsConsolidationDue(repo.LooseLimit) {
		return false
	}
	for _, key := range []string{"maintenance.autodetach", "gc.autodetach"} {
		if value, set := git.Last(s.repo.Config, key); set {
			return git.Bool(value)
		}
	}
	return true
}
