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

// isComplete reports whether a restore gave the worktree all files of the checkpoint, in the
// index too: no part was selected, and no path was left as it is but those of other sessions.
func (req *RestoreRequest) isComplete(done *Restored) bool {
	return !req.DryRun && req.Since == nil && req.isWhole() && len(done.Skipped)+len(done.InTheWay) == 0
}

// isWhole reports whether a request selects all files of the checkpoint.
func (req *RestoreRequest) isWhole() bool {
	return len(req.Paths) == 0 && req.Staged == req.Worktree
}

// movesPoint reports whether a restore makes its checkpoint the point from which the work goes
// on: the user asked for all of its files.
func (req *RestoreRequest) movesPoint() bool {
	c := req.Checkpoint
	return req.goesBack() && req.Since == nil && req.isWhole() && c.ID != "" && c.Valid() && !c.Archived
}

// goBack records that the work goes on from another checkpoint than before (chain.SetPoint),
// and reports whether it does. The files are restored already, so an error is only a warning.
func (s *Restorer) goBack(ctx context.Context, i checkpoint.Issue, from, to checkpoint.ID) bool {
	moved, err := s.chain.SetPoint(ctx, i, from, to)
	if err != nil {
		s.repo.Notify("the files are restored, but it is not recorded that the work goes on from %s: %v", to, err)
	}
	return moved
}

// recordRestored records that this worktree has the files of a checkpoint now, and came after
// those that it had before. If the work goes back to this checkpoint, it also came after the
// newest of those that were left.
func (s *Restorer) recordRestored(ctx context.Context, i checkpoint.Issue, id checkpoint.ID, goesBack bool) {
	heads := append([]checkpoint.ID{id}, s.chain.Heads(i)...)
	if c, err := s.chain.ReadChain(ctx, i, repo.LiveRef(i), chain.RetentionDepth); err == nil {
		event := c.Restored
		isLeft := func(o chain.Checkpoint) bool {
			return o.ID != "" && o.ID != id && (goesBack || event.ID == id && o.Clock < event.Clock)
		}
		if list := c.Checkpoints(); slices.ContainsFunc(list, isLeft) {
			heads = append(heads, list[slices.IndexFunc(list, isLeft)].ID)
		}
		heads = c.Reduced(heads)
	}
	s.recordHere(i, heads)
}

// recordHere records the checkpoints that the files of this worktree come after, if they are
// known (chain.Heads).
func (s *Restorer) recordHere(i checkpoint.Issue, heads []checkpoint.ID) {
	if len(heads) == 0 {
		heads = []checkpoint.ID{""}
	}
	if err := s.chain.SetHere(i, heads[0], heads[1:]...); err != nil {
		s.repo.Notify("the checkpoint of this worktree's files is not recorded: %v", err)
	}
}

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
		done, err := s.Restore(ctx, RestoreRequest{Checkpoint: &c, Request: Request{Asked: true, Changed: Merged, DryRun: true}})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if refused, ok := errors.AsType[*repo.RefusedError](err); ok && refused.Reason != "" {
			list = append(list, NotHere{Checkpoint: c, Reason: refused.Reason})
		}
		if err != nil { // verify reports a damaged checkpoint
			continue
		}
		files := slices.Concat(done.Restored, done.Skipped, done.InTheWay, done.Others)
		if slices.Sort(files); len(files) > 0 {
			list = append(list, NotHere{Checkpoint: c, Files: slices.Compact(files)})
		}
	}
	return list, nil
}
