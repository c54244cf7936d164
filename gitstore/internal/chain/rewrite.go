package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Change describes how an operation changes an issue's chain.
type Change struct {
	Remove map[checkpoint.ID]bool
	Member join.Member            // removed too, without other contents of its id
	Insert []ChainCommit          // placed in the order of package join
	Ledger func(l *ledger.Ledger) // nil if the ledger stays
	Verb   string                 // start of the reflog message
	Ids    []checkpoint.ID        // ids in the reflog message
	Also   []refs.Move            // other refs of the same transaction, moved before the chain
	Then   []refs.Move            // refs moved after the chain
}

// Alter applies the change that decide returns to an issue's chain. If another process
// moves the ref first, alter starts again. A nil change does nothing. The object writer
// also receives objects of other chains in the same transaction.
func (s *Chains) Alter(ctx context.Context, issue checkpoint.Issue, decide func(c *Chain, k *repo.ObjectWriter) (*Change, error)) error {
	return s.Retry(ctx, issue, func() error {
		c, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
		if err != nil {
			return err
		}
		if err := cmp.Or(c.Unread, c.CheckBoundary()); err != nil {
			return err
		}
		k := s.repo.NewObjectWriter()
		k.Records = true
		ch, err := decide(c, k)
		if err != nil || ch == nil {
			return err
		}
		if c.Cut && (c.Has(ch.Remove) || len(ch.Insert) > 0) {
			return c.ReadOnly()
		}
		links := slices.DeleteFunc(slices.Clone(c.Commits), func(l ChainCommit) bool {
			return ch.Remove[l.ID] || l.ID != "" && l.Member() == ch.Member
		})
		tip, want := s.Rebuild(c, Merge(links, ch.Insert), k), c.Ledger
		if ch.Ledger != nil {
			want = c.Ledger.Clone()
			ch.Ledger(want)
		}
		tip = s.withLedger(c.Issue, tip, want, k)
		if tip == c.Tip && len(ch.Also)+len(ch.Then) == 0 {
			return nil
		}
		moves := func() ([]refs.Move, error) {
			moves, err := s.MovesTo(ctx, c, tip)
			return slices.Concat(ch.Also, moves, ch.Then), err
		}
		if err := s.repo.Move(ctx, k, repo.Shorten(ch.Verb+": "+repo.JoinIDs(ch.Ids)), moves); err != nil {
			return err
		}
		return k.Protect(ctx)
	})
}

// Merge inserts more commits into the commits of a chain, newest first, in the order of package
// join. The existing order of the chain stays, even if it contradicts this order.
func Merge(links, more []ChainCommit) []ChainCommit {
	all := &Chain{Commits: slices.Concat(links, more), Ledger: ledger.New()}
	rank := map[join.Member]int{}
	for n, m := range all.state().Order() {
		rank[m] = n
	}
	older := func(a, b ChainCommit) bool { return rank[a.Member()] < rank[b.Member()] }
	more = slices.SortedFunc(slices.Values(more), func(a, b ChainCommit) int { return rank[b.Member()] - rank[a.Member()] })
	merged := make([]ChainCommit, 0, len(links)+len(more))
	for _, l := range links {
		for len(more) > 0 && !l.Ledger && older(l, more[0]) {
			merged, more = append(merged, more[0]), more[1:]
		}
		merged = append(merged, l)
	}
	return append(merged, more...)
}

// Rebuild makes a chain from commits, newest first, and returns its tip. The commits are
// from c, or new to it. The unchanged bottom part keeps its commits. Above it only
// parents change. Ledger commits in the changed part are omitted, because they are only
// history.
func (s *Chains) Rebuild(c *Chain, links []ChainCommit, k *repo.ObjectWriter) plumbing.Hash {
	same := 0
	for same < min(len(links), len(c.Commits)) &&
		links[len(links)-1-same].Raw.Hash == c.Commits[len(c.Commits)-1-same].Raw.Hash {
		same++
	}
	base := Genesis(c.Issue)
	parent, n := base.Hash, len(c.Commits)
	switch {
	case same > 0:
		parent = links[len(links)-same].Raw.Hash
	case n > 0 && !c.Rooted && len(c.Commits[n-1].Raw.Parents) > 0:
		parent = c.Commits[n-1].Raw.Parents[0]
	case !s.repo.Objects.Has(base.Hash):
		k.Add(plumbing.TreeObject, nil)
		k.AddCommit(base)
	}
	above := len(links) - same
	for i := above - 1; i >= 0; i-- {
		s.repo.Progress(above-i, above)
		if links[i].Ledger {
			continue
		}
		commit := links[i].Raw
		parents := []plumbing.Hash{parent}
		if len(commit.Parents) > 1 {
			parents = append(parents, commit.Parents[1:]...)
		}
		commit.Parents = parents
		parent = k.AddCommit(commit)
	}
	return parent
}

func (s *Chains) ledgerAt(commit plumbing.Hash, k *repo.ObjectWriter) []byte {
	data, err := trees.ReadAs(k, plumbing.CommitObject, commit)
	if err != nil {
		return nil
	}
	c, err := repo.ParseCommit(commit, data)
	if err != nil {
		return nil
	}
	data, _, _ = s.fileIn(k, c.Tree, "ledger", ledger.MaxSize)
	return data
}

// MovesTo returns the moves that set an issue's chain and own/ to tip. It fails with ErrRefMoved if own/
// has another value than the chain: another process has moved one of them since RestoreOwnChain, and a
// move of own/ would lose saved checkpoints. Processes that delete the ref of the chain do not matter.
func (s *Chains) MovesTo(ctx context.Context, c *Chain, tip plumbing.Hash) ([]refs.Move, error) {
	if tip == c.Tip {
		return nil, nil
	}
	own, err := s.repo.ReadRef(ctx, repo.OwnRef(c.Issue))
	if err != nil {
		return nil, err
	}
	isOther := own != c.Tip
	if isOther && c.Tip.IsZero() { // a new chain replaces a lost one
		isLost, err := s.isLost(own)
		isOther = err != nil || !isLost
	}
	if isOther {
		return nil, fmt.Errorf("%w: %s is at %s", repo.ErrRefMoved, repo.OwnRef(c.Issue), own)
	}
	live := c.Tip
	if now, err := s.repo.ReadRef(ctx, repo.LiveRef(c.Issue)); err == nil && now.IsZero() {
		live = now
	}
	return []refs.Move{{Name: repo.LiveRef(c.Issue), Old: live, New: tip}, {Name: repo.OwnRef(c.Issue), Old: own, New: tip}}, nil
}

// retryFor limits the time in which one operation retries after lost races.
const retryFor = 2 * time.Minute

// Retry runs try with the issue locked. If a process without the lock moves the ref
// concurrently, retry runs try again. Before each run it restores checkpoints that plain
// git removed.
func (s *Chains) Retry(ctx context.Context, issue checkpoint.Issue, try func() error) error {
	for start := time.Now(); ; {
		err := s.repo.WithIssueLocks(ctx, []checkpoint.Issue{issue}, func() error {
			if err := s.RestoreOwnChain(ctx, issue); err != nil {
				return err
			}
			return try()
		})
		if !errors.Is(err, repo.ErrRefMoved) {
			return err
		}
		if time.Since(start) > retryFor {
			return fmt.Errorf("%w: %w", repo.ErrMoved, err)
		}
	}
}

// Drop permanently deletes live or archived checkpoints of an issue. The ledger prevents
// their return from another clone. If an id is in neither chain, Drop fails with
// *NotFoundError and deletes nothing. The empty id stands for foreign commits, which have
// no id. In a shallow chain the commits stay until a complete clone synchronizes. If all is set, the
// checkpoints below a shallow boundary go too, but for pinned ones.
func (s *Chains) Drop(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID, all bool) error {
	remove := SetOf(ids)
	ids = slices.DeleteFunc(slices.Clone(ids), func(id checkpoint.ID) bool { return id == "" })
	err := s.Alter(ctx, issue, func(c *Chain, k *repo.ObjectWriter) (*Change, error) {
		archive, err := s.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		live, archived := c.Index(), archive.Index()
		for _, id := range ids {
			// If a drop was killed, the archive can have what the ledger deletes.
			if archived[id] == nil && (live[id] == nil || c.Ledger.Deletes(id, ledger.AnyContent)) {
				return nil, &repo.NotFoundError{Issue: issue, Name: string(id)}
			}
		}
		ch := &Change{Verb: "drop", Ids: ids, Remove: remove}
		if c.Cut && !remove[""] {
			ch.Remove = nil // the ledger alone
		}
		ch.Ledger = func(l *ledger.Ledger) {
			if Bury(l, ids, c, archive); all {
				s.endBelow(l, c, ids)
			}
		}
		ch.Then = s.LeaveArchive(archive, remove, k)
		return ch, nil
	})
	if err != nil {
		return fmt.Errorf("drop from issue %s: %w", issue, err)
	}
	return nil
}

// DropContent permanently deletes one of several contents under an id from the chain of an issue.
func (s *Chains) DropContent(ctx context.Context, cp *Checkpoint) error {
	err := s.Alter(ctx, cp.Issue, func(c *Chain, _ *repo.ObjectWriter) (*Change, error) {
		if !c.Members()[cp.Member()] {
			return nil, &repo.NotFoundError{Issue: cp.Issue, Name: cp.Commit.String()}
		}
		ch := &Change{Verb: "drop", Ids: []checkpoint.ID{cp.ID}, Ledger: func(l *ledger.Ledger) {
			l.DeleteContent(cp.ID, cp.Content, cp.After)
		}}
		if !c.Cut {
			ch.Member = cp.Member()
		}
		return ch, nil
	})
	if err == nil {
		var left *Chain
		if left, err = s.ReadChain(ctx, cp.Issue, repo.LiveRef(cp.Issue), 0); err == nil {
			_, note := s.Doubles(left.state(), left)
			err = note()
		}
	}
	if err != nil {
		return fmt.Errorf("drop from issue %s: %w", cp.Issue, err)
	}
	return nil
}

// Bury marks ids as deleted in the ledger. A deletion is final and overrides every other
// entry. The After ids come from the chains.
func Bury(l *ledger.Ledger, ids []checkpoint.ID, chains ...*Chain) {
	for _, id := range ids {
		l.Delete(id, AfterOf(id, chains...))
	}
}

// AfterOf returns the trailer Checkpoint-After of a checkpoint, or "" if no chain has it.
func AfterOf(id checkpoint.ID, chains ...*Chain) string {
	for _, c := range chains {
		if cp := c.Find(id); cp != nil {
			if _, ok := cp.CameAfter(); ok {
				return cp.After
			}
		}
	}
	return ""
}

// LeaveArchive removes checkpoints from an archive, and returns the move of the archive
// ref. It returns nil if the archive has no such checkpoint, or is shallow: then the
// ledger of the chain removes them.
func (s *Chains) LeaveArchive(archive *Chain, ids map[checkpoint.ID]bool, k *repo.ObjectWriter) []refs.Move {
	links := slices.DeleteFunc(slices.Clone(archive.Commits), func(l ChainCommit) bool { return ids[l.ID] })
	if archive.Cut || len(links) == len(archive.Commits) {
		return nil
	}
	return s.ArchiveMove(archive, links, k)
}

func SetOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set
}

// Pin sets or removes a checkpoint's pin, and reports any change.
func (s *Chains) Pin(ctx context.Context, issue checkpoint.Issue, id checkpoint.ID, on bool) (bool, error) {
	verb := "unpin"
	if on {
		verb = "pin"
	}
	changed := false
	err := s.Alter(ctx, issue, func(c *Chain, _ *repo.ObjectWriter) (*Change, error) {
		changed = false
		if c.Ledger.Deletes(id, ledger.AnyContent) || c.Find(id) == nil && !c.Ledger.IsArchived(id) {
			return nil, &repo.NotFoundError{Issue: issue, Name: string(id)}
		}
		if c.Ledger.Pinned(id) == on {
			return nil, nil
		}
		changed = true
		return &Change{
			Verb: verb, Ids: []checkpoint.ID{id},
			Ledger: func(l *ledger.Ledger) { l.SetPin(id, on, s.repo.Now()) },
		}, nil
	})
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", verb, id, err)
	}
	return changed, nil
}
