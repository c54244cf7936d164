package restore

import (
	"context"
	"errors"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/repo"
)

// A NotHere is a checkpoint that was saved in parallel to the files in this worktree.
type NotHere struct {
	chain.Checkpoint
	Files  []string // files that a restore with the choice merge would change or leave
	Reason string   // why such a restore is refused here, or ""
}

// maxNotHere limits the checkpoints that NotHere compares.
const maxNotHere = 5

// NotHere returns the checkpoints of the branch that were saved in parallel in another clone, and
// of which files are not in this worktree, newest first. If Heads has no record of this worktree,
// the list is empty.
func (s *Restorer) NotHere(ctx context.Context, issue checkpoint.Issue) ([]NotHere, error) {
	heads := s.chain.Heads(issue)
	if len(heads) == 0 || s.repo.Info.Root == "" {
		return nil, nil
	}
	live, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 1)
	if err != nil || !s.chain.SeenElsewhere(ctx, live) { // parallel work comes from another clone
		return nil, err
	}
	if live, err = s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), chain.RetentionDepth); err != nil {
		return nil, err
	}
	here := live.Find(heads[0])
	head, err := s.repo.ReadHead(ctx)
	if err != nil || here == nil || head.Branch != "" && facts.RecordedBranch(head.Branch) != here.Branch {
		return nil, err
	}
	var list []NotHere
	for _, c := range live.Parallel(heads) {
		if c.Branch != here.Branch || !c.Valid() || len(list) == maxNotHere {
			continue
		}
		n, err := s.notHere(ctx, c)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && (len(n.Files) > 0 || n.Reason != "") { // verify reports a damaged checkpoint
			list = append(list, n)
		}
	}
	return list, nil
}

// notHere compares a checkpoint with this worktree.
func (s *Restorer) notHere(ctx context.Context, c chain.Checkpoint) (NotHere, error) {
	done, err := s.Restore(ctx, RestoreRequest{Checkpoint: &c, Request: Request{Asked: true, Changed: Merged, DryRun: true}})
	if refused, ok := errors.AsType[*repo.RefusedError](err); ok {
		return NotHere{Checkpoint: c, Reason: refused.Reason}, nil
	}
	if err != nil {
		return NotHere{}, err
	}
	files := slices.Concat(done.Restored, done.Skipped, done.InTheWay, done.Others)
	slices.Sort(files)
	return NotHere{Checkpoint: c, Files: slices.Compact(files)}, nil
}
