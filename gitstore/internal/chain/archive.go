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
		if moved, err = idsToArchive(c, ids, keep); err != nil || len(moved) == 0 && !c.Cut {
			return nil, err
		}
		if len(ids) == 0 {
			return s.AllToArchive(ctx, c, moved, why, k)
		}
		return s.ToArchive(ctx, c, moved, why, k)
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
		var ids []checkpoint.ID
		for _, cp := range c.Checkpoints() {
			ids = append(ids, cp.ID)
		}
		_, err = s.ToArchive(ctx, c, ids, retention.ReasonAsked, s.repo.NewObjectWriter())
	}
	if err != nil {
		return fmt.Errorf("archive of issue %s: %w", issue, err)
	}
	return nil
}

// idsToArchive returns the ids to archive, newest first. Without ids it returns all ids
// of the chain except keep.
func idsToArchive(c *Chain, ids []checkpoint.ID, keep checkpoint.ID) ([]checkpoint.ID, error) {
	live := c.Visible()
	for _, id := range ids {
		if live[id] == nil {
			return nil, &repo.NotFoundError{Issue: c.Issue, Name: string(id)}
		}
	}
	wanted := SetOf(ids)
	var found []checkpoint.ID
	for _, cp := range c.Checkpoints() {
		if cp.ID != "" && (len(ids) == 0 || wanted[cp.ID]) {
			found = append(found, cp.ID)
		}
	}
	if len(found) == 0 {
		return nil, &repo.NoneError{Issue: c.Issue}
	}
	return slices.DeleteFunc(found, func(id checkpoint.ID) bool { return id == keep }), nil
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
// synchronizes.
func (s *Chains) ToArchive(ctx context.Context, c *Chain, ids []checkpoint.ID, why retention.Reason, k *repo.ObjectWriter) (*Change, error) {
	archive, err := s.ReadChain(ctx, c.Issue, repo.ArchiveRef(c.Issue), 0)
	if err != nil {
		return nil, err
	}
	ch := &Change{
		Verb: "archive", Ids: ids,
		Ledger: func(l *ledger.Ledger) {
			for _, id := range ids {
				l.SetArchived(id, string(why), s.repo.Now())
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

// AllToArchive is ToArchive for ids and the checkpoints below a shallow boundary.
func (s *Chains) AllToArchive(ctx context.Context, c *Chain, ids []checkpoint.ID, why retention.Reason, k *repo.ObjectWriter) (*Change, error) {
	ch, err := s.ToArchive(ctx, c, ids, why, k)
	if err == nil && c.Cut {
		filed := ledger.Archival{Reason: string(why), Clock: checkpoint.ClockAt(s.repo.Now())}
		ch.Below = c.below(SetOf(ids), Below{As: "archived", Filed: filed})
	}
	return ch, err
}

// InBoth returns the checkpoints that are both in the chain and in the archive of an
// issue, newest first. It leaves out checkpoints that the ledger marks as archived: the
// next sync removes them from the chain.
func (s *Chains) InBoth(ctx context.Context, issue checkpoint.Issue) ([]checkpoint.ID, error) {
	_, both, err := s.inBoth(ctx, issue)
	return both, err
}

// inBoth is InBoth with the archive.
func (s *Chains) inBoth(ctx context.Context, issue checkpoint.Issue) (archive *Chain, both []checkpoint.ID, err error) {
	archive, err = s.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
	if err != nil || len(archive.Commits) == 0 {
		return archive, nil, err
	}
	c, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err != nil {
		return archive, nil, err
	}
	return archive, archive.liveIn(c), nil
}

// liveIn returns the checkpoints of an archive that are also live in chain c and that the
// ledger of c does not mark as archived.
func (archive *Chain) liveIn(c *Chain) []checkpoint.ID {
	live := c.Index()
	var both []checkpoint.ID
	for _, l := range archive.Commits {
		if l.ID != "" && live[l.ID] != nil && !c.Ledger.IsArchived(l.ID) {
			both = append(both, l.ID)
		}
	}
	return both
}

// addGone adds the archived checkpoints that are still in the live chain to the list of
// an archive. It removes deleted checkpoints, and sets the archive facts from the ledger
// of the live chain. If the live chain cannot be read, the facts stay empty.
func (s *Chains) addGone(ctx context.Context, archive *Chain, list []Checkpoint) []Checkpoint {
	live, err := s.ReadChain(ctx, archive.Issue, repo.LiveRef(archive.Issue), 1)
	there := archive.Index()
	isMissing := func(id checkpoint.ID) bool { return there[id] == nil }
	if err == nil && !live.Whole() && (len(list) > 0 || live.Below == nil && slices.ContainsFunc(live.Ledger.IDs(ledger.Archived), isMissing)) {
		live, err = s.ReadChain(ctx, archive.Issue, repo.LiveRef(archive.Issue), 0)
	}
	if err != nil {
		live = s.NoChain(archive)
	}
	both := SetOf(archive.liveIn(live)) // a killed command stored them here and did not remove them from the chain
	list = slices.DeleteFunc(list, func(c Checkpoint) bool { return both[c.ID] || live.Ledger.Deletes(c.ID, c.Content) })
	if gone := MovingTo(archive, live.Ledger, live).Commits; len(gone) > 0 {
		for _, l := range gone {
			list = append(list, l.Checkpoint)
		}
		slices.SortStableFunc(list, func(a, b Checkpoint) int { return ChainCommit{Checkpoint: b}.order(ChainCommit{Checkpoint: a}) })
	}
	for i := range list {
		c := &list[i]
		c.Archived, c.Pinned, c.Filed = true, live.Ledger.Pinned(c.ID), FiledOf(live.Ledger.Archival(c.ID))
	}
	return list
}

func FiledOf(a ledger.Archival) Filed {
	if a.Reason == "" {
		return Filed{}
	}
	return Filed{retention.Reason(a.Reason), time.Unix(0, int64(a.Clock)).UTC()}
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

// PickArchive returns the tip of an archive with the wanted checkpoints. The tip is that
// of an existing chain, or a new commit in k. It returns the zero hash if no checkpoint
// is wanted and no chain exists. Commits that move to the archive form a chain without a
// tip.
func (s *Chains) PickArchive(k *repo.ObjectWriter, want join.State, chains ...*Chain) (plumbing.Hash, error) {
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

// CountIn returns the number of checkpoints of a chain that are also in a state.
func (c *Chain) CountIn(state join.State) int {
	n := 0
	for _, l := range c.Commits {
		if _, ok := state.Members[l.Member()]; ok && !l.Ledger {
			n++
		}
	}
	return n
}

// MovingTo returns commits of chains that a ledger marks as archived, except commits
// already in the archive. The result has no tip: each commit still has its old parent,
// from its own chain.
func MovingTo(archive *Chain, known *ledger.Ledger, chains ...*Chain) *Chain {
	there, m := archive.state().Members, &Chain{Issue: archive.Issue, Ref: archive.Ref, Rooted: true, Ledger: ledger.New()}
	for _, c := range chains {
		for _, l := range c.Commits {
			if _, has := there[l.Member()]; l.ID != "" && known.Files(l.ID, l.Content) && !has {
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

// separate removes live checkpoints from an issue's archive, and returns removed ids.
// Such duplicates remain if power loss separated both ref moves. It requires the issue lock.
func (s *Chains) separate(ctx context.Context, i checkpoint.Issue) ([]checkpoint.ID, error) {
	archive, both, err := s.inBoth(ctx, i)
	if err != nil || len(both) == 0 {
		return nil, err
	}
	k := s.repo.NewObjectWriter()
	moves := s.LeaveArchive(archive, SetOf(both), k)
	if len(moves) == 0 {
		return nil, nil
	}
	message := repo.Shorten("repair: " + repo.JoinIDs(both))
	if err := s.repo.Move(ctx, k, message, func() ([]refs.Move, error) { return moves, nil }); err != nil {
		return nil, err
	}
	return both, k.Protect(ctx)
}

// ClearArchive removes from an issue's archive the checkpoints that its chain contains too.
func (s *Chains) ClearArchive(ctx context.Context, issue checkpoint.Issue) error {
	err := s.Retry(ctx, issue, func() error {
		_, err := s.separate(ctx, issue)
		return err
	})
	if err != nil {
		return fmt.Errorf("repair the archive of issue %s: %w", issue, err)
	}
	return nil
}

// BaseTime returns the time of the commit that was HEAD at the save of a checkpoint, or the
// zero time.
func (s *Chains) BaseTime(c *Checkpoint) time.Time {
	head, err := s.HeadOf(c)
	if err != nil || head.IsZero() {
		return time.Time{}
	}
	return s.repo.CommittedAt(head)
}

// NewestCommit returns the time of HEAD's commit, or the zero time.
func (s *Chains) NewestCommit(ctx context.Context) time.Time {
	head, err := s.repo.ReadHead(ctx)
	if err != nil {
		return time.Time{}
	}
	return s.repo.CommittedAt(head.Commit)
}

// Times returns the known times of an archived checkpoint, for rules of age.
func (s *Chains) Times(c *Checkpoint, newest time.Time) retention.Times {
	return retention.Times{Created: c.Saved, Clock: c.Clock, Base: s.BaseTime(c), Archived: c.Filed.At, Newest: newest, Now: s.repo.Now()}
}
