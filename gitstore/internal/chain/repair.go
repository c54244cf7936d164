package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A removal is what other tools took from an issue's chain: by a forced fetch, a reset, or the
// deletion of the ref.
type removal struct {
	live plumbing.Hash // zero if the ref was deleted
	own  plumbing.Hash // the last tip of this clone
	back bool          // the ref moves back to own, which contains live
	err  error         // why the chains cannot be joined

	now, last *Chain // chains at live and own, joined at tip
	k         *repo.ObjectWriter
	tip       plumbing.Hash
	want      join.State
	archived  []refs.Move
}

// removed compares an issue's chain with the chain that this clone wrote last. It returns nil if
// the chain accounts for all checkpoints of this clone, and if one of both is unreadable or
// shallow: the caller's own read reports the error. It changes nothing.
//
// It records the compared values for MovesTo.
func (s *Chains) removed(ctx context.Context, i checkpoint.Issue) (*removal, error) {
	live, err := s.repo.ReadRef(ctx, repo.LiveRef(i))
	if err != nil {
		return nil, nil
	}
	own, err := s.ownTip(ctx, i)
	if err != nil || own == live || own.IsZero() {
		return nil, nil
	}
	s.compared[i] = repo.ComparedRefs{Live: live, Own: own}
	r := &removal{live: live, own: own}
	if live.IsZero() {
		lost, err := s.isLost(own)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", repo.OwnRef(i), err)
		case lost:
			s.repo.Compared[i] = s.compared[i]
			return nil, nil
		}
		r.back = true
		return r, nil
	}
	s.repo.Compared[i] = s.compared[i]
	for _, depth := range []int{repairDepth, 0} {
		if r.now, err = s.Walk(i, repo.LiveRef(i), live, depth); err != nil || r.now.ContainsCommit(own) {
			return nil, nil
		}
	}
	r.last, err = s.Walk(i, repo.OwnRef(i), own, 0)
	switch {
	case err != nil:
		return nil, nil
	case r.last.ContainsCommit(live): // also in a shallow clone: the ref was set back
		r.back = true
		return r, nil
	case !r.now.Whole() || !r.last.Whole():
		return nil, nil
	}
	r.k = s.repo.NewObjectWriter()
	if r.tip, r.want, _, r.err = s.MergeChains(r.k, r.now, r.last); r.err == nil && len(r.want.Ledger.IDs(ledger.Archived)) > 0 {
		r.archived, r.err = s.archiveLeaving(ctx, r.k, r.want, r.now, r.last)
	}
	if r.err == nil && r.tip == live && len(r.archived) == 0 {
		return nil, nil
	}
	return r, nil
}

// RestoreOwnChain restores checkpoints that other tools removed from an issue's chain: it joins
// the chain that this clone wrote last with the current chain. If deleted is false, it does not
// restore a deleted ref: a save recreates the ref with its own move, see ChainToSaveOn. It fails if
// a ref move fails, with ErrRefMoved if another process was faster.
func (s *Chains) RestoreOwnChain(ctx context.Context, i checkpoint.Issue, deleted bool) error {
	r, err := s.removed(ctx, i)
	switch {
	case err != nil || r == nil || r.live.IsZero() && !deleted:
		return err
	case r.err != nil:
		s.notifyApart(i, r.err)
		return nil
	case r.back:
		return s.RestoreRef(ctx, i, r.live, r.own)
	}
	doubles, note := s.Doubles(i, r.want, r.last, r.now)
	if err = note(); err == nil {
		err = s.repo.Move(ctx, r.k, repaired, func() ([]refs.Move, error) {
			moves, err := s.MovesTo(ctx, r.now, r.tip)
			return slices.Concat(r.archived, moves), err
		})
	}
	if err == nil {
		for _, text := range WarnDoubles(i, doubles) {
			s.repo.Notify("%s", text)
		}
		err = r.k.Protect(ctx)
	}
	var done *failure.DoneError
	switch {
	case errors.As(err, &done):
		s.repo.Notify("issue %s: %s was changed outside git-checkpoint; its checkpoints of this clone are restored, but: %v", i, repo.LiveRef(i), done.Err)
	case err != nil:
		return fmt.Errorf("restore checkpoints that were removed from %s outside git-checkpoint: %w", repo.LiveRef(i), err)
	default:
		s.NotifyRestored(i)
	}
	return nil
}

// RestoreRef restores a chain ref that was deleted (live is zero) or set back. The old
// value may be shallow or damaged, but a new chain in its place would take over the name
// of the old chain.
func (s *Chains) RestoreRef(ctx context.Context, i checkpoint.Issue, live, own plumbing.Hash) error {
	moves := []refs.Move{{Name: repo.LiveRef(i), Old: live, New: own}}
	last, err := s.repo.ReadRef(ctx, repo.OwnRef(i))
	if err == nil {
		if last.IsZero() { // deleted together with the chain
			moves = append(moves, refs.Move{Name: repo.OwnRef(i), New: own})
		}
		err = s.repo.MoveRefs(ctx, repaired, moves...)
	}
	switch {
	case err == nil || repo.IsDone(err):
	case live.IsZero():
		return fmt.Errorf("restore %s, which was deleted outside git-checkpoint: %w", repo.LiveRef(i), err)
	default:
		return fmt.Errorf("restore checkpoints that were removed from %s outside git-checkpoint: %w", repo.LiveRef(i), err)
	}
	s.NotifyRestored(i)
	return nil
}

// NotifyRestored reports that checkpoints were restored to an issue's chain.
func (s *Chains) NotifyRestored(i checkpoint.Issue) {
	s.repo.Notify("issue %s: %s was changed outside git-checkpoint; its checkpoints of this clone are restored", i, repo.LiveRef(i))
}

func (s *Chains) notifyApart(i checkpoint.Issue, why error) {
	s.repo.Notify("issue %s: %s was changed outside git-checkpoint, and its checkpoints of this clone cannot be restored: %v", i, repo.LiveRef(i), why)
}

// ChainToSaveOn returns the newest part of an issue's chain for a save. If the chain ref
// was deleted, this is the chain at own/, and the save recreates the ref. A single move
// suffices for both. So a process that repeatedly deletes the ref cannot block a save.
func (s *Chains) ChainToSaveOn(ctx context.Context, i checkpoint.Issue) (*Chain, error) {
	c, err := s.ReadChain(ctx, i, repo.LiveRef(i), 1)
	if err != nil || !c.Tip.IsZero() {
		return c, err
	}
	own, err := s.ownTip(ctx, i)
	if err != nil || own.IsZero() {
		return c, err
	}
	lost, err := s.isLost(own)
	if err != nil || lost {
		return c, err
	}
	c, err = s.Walk(i, repo.LiveRef(i), own, 1)
	if err == nil {
		c.Deleted = true
	}
	return c, err
}

// ownTip returns the tip that this clone gave an issue's chain last. If the refs of the
// chain and own/ were deleted together, it is read from a file.
func (s *Chains) ownTip(ctx context.Context, i checkpoint.Issue) (plumbing.Hash, error) {
	own, err := s.repo.ReadRef(ctx, repo.OwnRef(i))
	if err != nil || !own.IsZero() {
		return own, err
	}
	live, err := s.repo.ReadRef(ctx, repo.LiveRef(i))
	if err != nil || !live.IsZero() {
		return plumbing.ZeroHash, err
	}
	noted := s.repo.NotedOwn(i)
	if noted.IsZero() || !s.repo.Objects.Has(noted) { // a gc has deleted it
		return plumbing.ZeroHash, nil
	}
	return noted, nil
}

// isLost reports whether a commit is missing or damaged. It fails if the operating system
// could not read the commit, because the commit may exist.
func (s *Chains) isLost(commit plumbing.Hash) (bool, error) {
	_, err := s.repo.ReadCommit(commit)
	var errno syscall.Errno
	if errors.As(err, &errno) && errno != syscall.ENOENT {
		return false, err
	}
	return err != nil, nil
}

// repaired is the reflog message of repairs.
const repaired = "repair: what other means had taken"

// repairDepth is the number of checkpoints among which removed looks for the own tip first: usually
// plain git has fetched a chain that has grown.
const repairDepth = 200

// Lacks reports whether other tools removed checkpoints of this clone from an issue's chain.
func (s *Chains) Lacks(ctx context.Context, i checkpoint.Issue) bool {
	r, err := s.removed(ctx, i)
	return err == nil && r != nil
}

// look compares an issue's chain with the tip that this clone wrote last, before the chain is
// read. In a repository that was opened for changes, it restores what other tools removed. Otherwise
// it changes nothing, and names the difference once. Under the issue lock it does nothing, because
// the lock holder has already repaired the chain. It reports errors with Notify, and the caller reads the chain as it is.
func (s *Chains) look(ctx context.Context, i checkpoint.Issue) {
	if s.repo.IssueLock != nil {
		return
	}
	own, err := s.ownTip(ctx, i)
	if err != nil || own.IsZero() {
		return
	}
	live, err := s.repo.ReadRef(ctx, repo.LiveRef(i))
	if err != nil || live == own || s.compared[i] == (repo.ComparedRefs{Live: live, Own: own}) {
		return
	}
	r, err := s.removed(ctx, i)
	switch {
	case err != nil || r == nil:
		return
	case s.repo.Repairs:
	case r.err != nil:
		s.notifyApart(i, r.err)
		return
	default:
		s.repo.Notify("issue %s: %s was changed outside git-checkpoint, and lacks checkpoints of this clone; to restore them: git checkpoint doctor --fix", i, repo.LiveRef(i))
		return
	}
	for range repo.Collections {
		err := s.repo.WithIssueLock(ctx, i, func() error { return s.RestoreOwnChain(ctx, i, true) })
		if errors.Is(err, repo.ErrRefMoved) {
			continue
		}
		if err != nil {
			s.repo.Notify("issue %s: %v", i, err)
		}
		return
	}
}

// lookForDeleted looks at the issues whose chain refs were deleted, and reports whether it restored
// any. existing are the issues with a chain, sorted by ref.
func (s *Chains) lookForDeleted(ctx context.Context, existing []checkpoint.Issue) (restored bool) {
	if s.repo.IssueLock != nil || s.repo.Info.RefFormat != "files" {
		return false
	}
	own, err := s.repo.Refs.Names(ctx, repo.OwnRefs)
	if err != nil {
		return false
	}
	for _, i := range s.repo.NotedIssues() {
		own = append(own, repo.OwnRef(i))
	}
	slices.Sort(own)
	k := 0
	for _, name := range slices.Compact(own) {
		key := strings.TrimPrefix(name, repo.OwnRefs)
		for k < len(existing) && existing[k].RefName() < key {
			k++
		}
		i, err := checkpoint.IssueFromRef(key)
		if err != nil || k < len(existing) && existing[k] == i {
			continue
		}
		s.look(ctx, i)
		restored = restored || s.HasChain(ctx, i)
	}
	return restored
}

// archiveLeaving returns the move of the archive ref for checkpoints that the merged
// state moves from chains to the archive. It returns nil if there are no such
// checkpoints.
func (s *Chains) archiveLeaving(ctx context.Context, k *repo.ObjectWriter, want join.State, chains ...*Chain) ([]refs.Move, error) {
	i := chains[0].Issue
	here, err := s.ReadChain(ctx, i, repo.ArchiveRef(i), 0)
	if err != nil {
		return nil, err
	}
	if err := s.Identify(append(slices.Clone(chains), here)...); err != nil {
		return nil, err
	}
	moving := MovingTo(here, want.Ledger, chains...)
	switch {
	case len(moving.Commits) == 0:
		return nil, nil
	case !here.Whole():
		return nil, here.ReadOnly()
	}
	_, kept := join.MergeArchives(want, join.Chain{}, here.AsChain(), moving.AsChain())
	tip, err := s.PickArchive(k, kept, here, moving)
	return (&ArchivePlan{Here: here, Tip: tip}).Move(i), err
}

// Whole reports whether a chain was read down to genesis.
func (c *Chain) Whole() bool { return c.Rooted && !c.Cut }
