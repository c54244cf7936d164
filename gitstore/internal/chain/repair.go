package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A removal is the difference between an issue's chain and the chain that this clone wrote last: other
// tools fetched by force, reset or deleted the ref.
type removal struct {
	live  plumbing.Hash // zero if the ref was deleted
	own   plumbing.Hash // the last tip of this clone
	tip   plumbing.Hash // new tip of the chain, with the checkpoints of both
	lacks bool          // the chain at live lacks checkpoints of this clone
	err   error         // why the chains cannot be joined

	now, last *Chain     // chains at live and own
	want      join.State // members of the new chain, nil if they are unknown
	k         *repo.ObjectWriter
	archived  []refs.Move
}

// removed compares an issue's chain with the chain that this clone wrote last. It returns nil if they are
// the same, and if the chain is unreadable: the caller's own read reports the error. Unless again is set,
// it also returns nil if it has compared these chains before.
//
// Other processes may move both refs between the two reads, and cached values may be from different times.
// So if the chain seems to lack checkpoints, removed reads the refs again, and compares those that moved.
func (s *Chains) removed(ctx context.Context, i checkpoint.Issue, again bool) (r *removal, err error) {
	live, own, err := s.tips(ctx, i, s.repo.ReadRef)
	for tries := 0; ; tries++ {
		compared := [2]plumbing.Hash{live, own}
		if err != nil || own == live || !again && s.compared[i] == compared {
			return nil, nil
		}
		s.compared[i] = compared
		r, err = s.compare(ctx, i, live, own)
		if r == nil || !r.lacks || s.repo.IssueLock != nil || tries == compareTries {
			return r, err
		}
		if live, own, err = s.tips(ctx, i, s.repo.Refs.Now); err == nil && compared == [2]plumbing.Hash{live, own} {
			return r, nil
		}
	}
}

// compareTries limits the comparisons while another process moves the refs.
const compareTries = 5

// tips returns the tip of an issue's chain, and the tip that this clone gave it last. If the refs of the
// chain and own/ were deleted together, the latter is read from a file.
func (s *Chains) tips(ctx context.Context, i checkpoint.Issue, read func(context.Context, string) (plumbing.Hash, error)) (live, own plumbing.Hash, err error) {
	if own, err = read(ctx, repo.OwnRef(i)); err == nil {
		live, err = read(ctx, repo.LiveRef(i))
	}
	if err == nil && own.IsZero() && live.IsZero() {
		if noted := s.repo.NotedOwn(i); !noted.IsZero() && s.repo.Objects.Has(noted) { // otherwise a gc has deleted it
			own = noted
		}
	}
	return live, own, err
}

func (s *Chains) compare(ctx context.Context, i checkpoint.Issue, live, own plumbing.Hash) (r *removal, err error) {
	r = &removal{live: live, own: own, tip: live, k: s.repo.NewObjectWriter()}
	switch {
	case own.IsZero(): // plain git fetched the chain
		return r, nil
	case live.IsZero():
		if lost, err := s.isLost(own); lost || err != nil {
			return nil, err
		}
		r.tip, r.lacks = own, true
		return r, nil
	}
	if r.now, err = s.Walk(i, repo.LiveRef(i), live, 0); err != nil {
		return nil, nil
	}
	r.last, err = s.Walk(i, repo.OwnRef(i), own, 0)
	switch {
	case err != nil:
		return r, nil
	case r.now.ContainsCommit(own):
		if r.now.Whole() && s.Identify(r.now, r.last) == nil {
			r.want = r.now.state()
		}
		return r, nil
	case r.last.ContainsCommit(live): // also in a shallow clone: the ref was set back
		r.tip, r.lacks = own, true
		return r, nil
	case !r.now.Whole() || !r.last.Whole():
		return r, nil
	}
	tip, want, _, err := s.MergeChains(r.k, r.now, r.last)
	if err == nil {
		r.archived, err = s.archiveLeaving(ctx, r.k, want, r.now, r.last)
	}
	if r.err = err; err == nil {
		r.tip, r.want = tip, want
	}
	r.lacks = err != nil || tip != live || len(r.archived) > 0
	return r, nil
}

// RestoreOwnChain restores checkpoints that other tools removed from an issue's chain: it joins
// the chain that this clone wrote last with the current chain. Then own/ has the value of the chain ref.
// It fails if a ref move fails, with ErrRefMoved if another process was faster.
func (s *Chains) RestoreOwnChain(ctx context.Context, i checkpoint.Issue) error {
	r, err := s.removed(ctx, i, true)
	if err != nil || r == nil {
		return err
	}
	if r.err != nil {
		s.notifyApart(i, r.err)
	}
	warnings, note := []string(nil), func() error { return nil }
	if r.want.Members != nil {
		warnings, note = s.Doubles(r.want, r.last, r.now)
	}
	if err = note(); err == nil {
		err = s.repo.Move(ctx, r.k, repaired, func() ([]refs.Move, error) { return s.repairMoves(ctx, i, r) })
	}
	if err == nil {
		for _, text := range warnings {
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
	case r.lacks && r.err == nil:
		s.repo.Notify("issue %s: %s was changed outside git-checkpoint; its checkpoints of this clone are restored", i, repo.LiveRef(i))
	}
	return nil
}

// repairMoves returns the moves that set a chain and own/ to the tip of a removal. The ref fetched/ keeps a
// chain that plain git fetched.
func (s *Chains) repairMoves(ctx context.Context, i checkpoint.Issue, r *removal) ([]refs.Move, error) {
	own, err := s.repo.ReadRef(ctx, repo.OwnRef(i)) // zero if it was deleted together with the chain
	if err != nil {
		return nil, err
	}
	moves := append(r.archived, refs.Move{Name: repo.LiveRef(i), Old: r.live, New: r.tip}, refs.Move{Name: repo.OwnRef(i), Old: own, New: r.tip})
	if r.tip != r.own {
		fetched, err := s.repo.ReadRef(ctx, repo.FetchedRef(i))
		if err != nil {
			return nil, err
		}
		moves = append(moves, refs.Move{Name: repo.FetchedRef(i), Old: fetched, New: r.live})
	}
	return slices.DeleteFunc(moves, func(m refs.Move) bool { return m.Old == m.New }), nil
}

func (s *Chains) notifyApart(i checkpoint.Issue, why error) {
	s.repo.Notify("issue %s: %s was changed outside git-checkpoint, and its checkpoints of this clone cannot be restored: %v", i, repo.LiveRef(i), why)
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

// Lacks reports whether other tools removed checkpoints of this clone from an issue's chain.
func (s *Chains) Lacks(ctx context.Context, i checkpoint.Issue) bool {
	r, err := s.removed(ctx, i, true)
	return err == nil && r != nil && r.lacks
}

// look compares an issue's chain with the tip that this clone wrote last, before the chain is
// read. In a repository that was opened for changes, it restores what other tools removed. Otherwise
// it changes nothing, and names the difference once. Under the issue lock it does nothing, because
// the lock holder has already repaired the chain. It reports errors with Notify, and the caller reads the chain as it is.
func (s *Chains) look(ctx context.Context, i checkpoint.Issue) {
	if s.repo.IssueLock != nil {
		return
	}
	switch r, err := s.removed(ctx, i, false); {
	case err != nil || r == nil || !r.lacks:
	case s.repo.Repairs:
		if err := s.Retry(ctx, i, func() error { return nil }); err != nil {
			s.repo.Notify("issue %s: %v", i, err)
		}
	case r.err != nil:
		s.notifyApart(i, r.err)
	default:
		s.repo.Notify("issue %s: %s was changed outside git-checkpoint, and lacks checkpoints of this clone; to restore them: git checkpoint doctor --fix", i, repo.LiveRef(i))
	}
}

// lookForDeleted looks at the issues whose chain refs were deleted, and reports whether there are any.
// live are the refs of the existing chains, sorted.
func (s *Chains) lookForDeleted(ctx context.Context, live []string) (deleted bool) {
	for _, i := range s.repo.NotedIssues() {
		if _, isThere := slices.BinarySearch(live, repo.LiveRef(i)); !isThere {
			s.look(ctx, i)
			deleted = true
		}
	}
	return deleted
}

// archiveLeaving returns the move of the archive ref for checkpoints that the merged
// state moves from chains to the archive, or nil.
func (s *Chains) archiveLeaving(ctx context.Context, k *repo.ObjectWriter, want join.State, chains ...*Chain) ([]refs.Move, error) {
	if len(want.Ledger.IDs(ledger.Archived)) == 0 {
		return nil, nil
	}
	read, issue := s.repo.ReadRef, chains[0].Issue
	if s.repo.IssueLock == nil {
		read = s.repo.Refs.Now // a cached value may be older than the chains
	}
	tip, err := read(ctx, repo.ArchiveRef(issue))
	if err != nil {
		return nil, err
	}
	here, err := s.Walk(issue, repo.ArchiveRef(issue), tip, 0)
	if err != nil {
		return nil, err
	}
	a := &ArchivePlan{Here: here, Theirs: s.NoChain(here)}
	_, err = s.JoinArchives(k, a, want, chains...)
	return a.Move(here.Issue), err
}

// Whole reports whether a chain was read down to genesis.
func (c *Chain) Whole() bool { return c.Rooted && !c.Cut }
