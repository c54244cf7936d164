package chain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// Archive moves checkpoints from an issue's chain to its archive, and returns their ids.
// Without ids, Archive moves all checkpoints, also below a shallow boundary, except keep. The
// ledger records reason and time, so every clone can compute archival ages. In a shallow chain
// the commits stay until a complete clone synchronizes.
func (s *Chains) Archive(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID, keep checkpoint.ID, why retention.Reason) (moved []checkpoint.ID, err error) {
	err = s.Alter(ctx, issue, func(c *Chain, k *repo.ObjectWriter) (*Change, error) {
		live, wanted := c.Visible(), SetOf(ids)
		for _, id := range ids {
			if live[id] == nil {
				return nil, &repo.NotFoundError{Issue: issue, Name: string(id)}
			}
		}
		moved = nil
		for _, cp := range c.Checkpoints() { // newest first
			if cp.ID != "" && cp.ID != keep && (len(ids) == 0 || wanted[cp.ID]) {
				moved = append(moved, cp.ID)
			}
		}
		switch {
		case len(live) == 0:
			return nil, &repo.NoneError{Issue: issue}
		case len(moved) == 0:
			return nil, nil
		}
		return s.ToArchive(ctx, c, moved, len(ids) == 0, why, k)
	})
	if err != nil {
		return nil, fmt.Errorf("archive of issue %s: %w", issue, err)
	}
	return moved, nil
}

// CheckArchive fails if Archive or Drop would refuse the chain of an issue.
func (s *Chains) CheckArchive(ctx context.Context, issue checkpoint.Issue) error {
	c, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err == nil {
		err = cmp.Or(c.Unread, c.CheckBoundary())
	}
	if err == nil {
		_, err = s.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
	}
	if err != nil {
		return fmt.Errorf("archive of issue %s: %w", issue, err)
	}
	return nil
}

// ArchiveMove returns the move of an archive ref to these commits, or nil if the ref
// already points to them.
func (s *Chains) ArchiveMove(archive *Chain, links []ChainCommit, k *repo.ObjectWriter) []refs.Move {
	if tip := s.Rebuild(archive, links, k); tip != archive.Tip {
		return []refs.Move{{Name: archive.Ref, Old: archive.Tip, New: tip}}
	}
	return nil
}

// ToArchive returns the change that moves ids from chain c to the archive. If one of them
// is shallow, only the ledger changes: a complete clone moves the checkpoints when it
// synchronizes. If all is set, it moves those below a shallow boundary too.
func (s *Chains) ToArchive(ctx context.Context, c *Chain, ids []checkpoint.ID, all bool, why retention.Reason, k *repo.ObjectWriter) (*Change, error) {
	archive, err := s.ReadChain(ctx, c.Issue, repo.ArchiveRef(c.Issue), 0)
	if err != nil {
		return nil, err
	}
	ch := &Change{
		Verb: "archive", Ids: ids,
		Ledger: func(l *ledger.Ledger) {
			now := s.repo.Now() // one time for all, by which the end of the work is recognized
			for _, id := range ids {
				l.SetArchived(id, string(why), now)
			}
			if all {
				s.endBelow(l, c, ids)
			}
		},
	}
	if c.Cut || archive.Cut {
		return ch, nil
	}
	gone, there := SetOf(ids), archive.state().Members
	moving := slices.DeleteFunc(slices.Clone(c.Commits), func(l ChainCommit) bool {
		_, has := there[l.Member()]
		return l.Ledger || !gone[l.ID] || has
	})
	ch.Remove, ch.Also = gone, s.ArchiveMove(archive, Merge(archive.Commits, moving), k)
	return ch, nil
}

// An ArchivePlan is the plan of a sync for the archive of an issue. Checkpoints that
// another clone archived leave the local chain and enter the local archive. The sync
// reads the remote archive only if needed: before a pushed chain marks a checkpoint as
// archived, the remote archive must contain the checkpoint.
type ArchivePlan struct {
	Here   *Chain
	Theirs *Chain        // empty unless the remote archive was read
	Tip    plumbing.Hash // new tip of the local archive
	There  plumbing.Hash // new tip of the remote archive; may contain checkpoints that are live here
	Shared bool          // push the archive too
}

// NoChain returns an empty chain in place of c.
func (s *Chains) NoChain(c *Chain) *Chain {
	return &Chain{Issue: c.Issue, Ref: c.Ref, Rooted: true, Ledger: ledger.New()}
}

// JoinArchives sets the new tips of a plan: the archives get the checkpoints of chains that the merged state
// want archives. It returns the new state of the local archive. It fails if a shallow archive had to change.
func (s *Chains) JoinArchives(k *repo.ObjectWriter, a *ArchivePlan, want join.State, chains ...*Chain) (kept join.State, err error) {
	if err := s.Identify(append([]*Chain{a.Here, a.Theirs}, chains...)...); err != nil {
		return kept, err
	}
	moving := movingTo(a.Here, want.Ledger, s.boundary(), chains...)
	if !a.Here.Whole() || !a.Theirs.Whole() {
		if a.Tip, a.There = a.Here.Tip, a.Theirs.Tip; len(moving.Commits) > 0 || a.Shared && a.Tip != a.There {
			return kept, a.Here.ReadOnly()
		}
		return kept, nil
	}
	shared, kept := join.MergeArchives(want, a.Theirs.AsChain(), a.Here.AsChain(), moving.AsChain())
	if a.Tip, err = s.pickArchive(k, kept, a.Theirs, a.Here, moving); err == nil {
		a.There, err = s.pickArchive(k, shared, a.Theirs, a.Here, moving)
	}
	return kept, err
}

// pickArchive returns the tip of an archive with the wanted checkpoints. The tip is that
// of an existing chain, or a new commit in k. It returns the zero hash if no checkpoint
// is wanted and no chain exists. Commits that move to the archive form a chain without a
// tip.
func (s *Chains) pickArchive(k *repo.ObjectWriter, want join.State, chains ...*Chain) (plumbing.Hash, error) {
	list, err := s.joinable(chains)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	as := join.Pick(want, list...)
	exists := func(c *Chain) bool { return !c.Tip.IsZero() }
	switch err := checkAllReadable(chains, as); {
	case err != nil:
		return plumbing.ZeroHash, err
	case as >= 0:
		return chains[as].Tip, nil
	case len(want.Members) > 0 || slices.ContainsFunc(chains, exists):
		return s.rebuildMerged(want, chains, k), nil
	}
	return plumbing.ZeroHash, nil
}

// movingTo returns commits of chains that a ledger marks as archived, except commits
// already in the archive. The result has no tip: each commit still has its old parent,
// from its own chain. A commit is left out if it, or its state commit, is in boundary, the boundary of a
// shallow clone: remotes refuse an archive with such a commit, and have another copy of it.
func movingTo(archive *Chain, known *ledger.Ledger, boundary map[string]bool, chains ...*Chain) *Chain {
	there, m := archive.state().Members, &Chain{Issue: archive.Issue, Ref: archive.Ref, Rooted: true, Ledger: ledger.New()}
	for _, c := range chains {
		for _, l := range c.Commits {
			isCut := boundary[l.Raw.Hash.String()] || len(l.Raw.Parents) > 1 && boundary[l.Raw.Parents[1].String()]
			if _, has := there[l.Member()]; l.ID != "" && known.Files(l.ID, l.Content) && !has && !isCut {
				m.Commits, there[l.Member()] = append(m.Commits, l), l.entry()
			}
		}
	}
	return m
}

// Update returns the remote archive's ref update, or nil without changes.
func (a *ArchivePlan) Update(i checkpoint.Issue) []remote.RefUpdate {
	if a == nil || !a.Shared || a.There.IsZero() || a.There == a.Theirs.Tip {
		return nil
	}
	return []remote.RefUpdate{{Ref: repo.ArchiveRef(i), Tip: a.There, Seen: a.Theirs.Tip}}
}

// Move returns the move of the local archive ref, or nil if it stays. A sync never
// deletes an archive ref.
func (a *ArchivePlan) Move(i checkpoint.Issue) []refs.Move {
	if a == nil || a.Tip.IsZero() || a.Tip == a.Here.Tip {
		return nil
	}
	return []refs.Move{{Name: repo.ArchiveRef(i), Old: a.Here.Tip, New: a.Tip}}
}

// BaseTime returns the time of the commit that was HEAD at the save of a checkpoint, or the
// zero time.
func (s *Chains) BaseTime(c *Checkpoint) time.Time {
	commit, err := s.repo.ReadCommit(c.Commit)
	if err != nil {
		return time.Time{}
	}
	state, _ := s.StateCommitOf(commit)
	return s.repo.CommittedAt(state.Head)
}

// NewestCommit returns the time of HEAD's commit, or the zero time.
func (s *Chains) NewestCommit(ctx context.Context) time.Time {
	head, _ := s.repo.ReadHead(ctx)
	return s.repo.CommittedAt(head.Commit)
}
