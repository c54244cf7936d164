package operation

import (
	"context"
	"maps"
	"slices"
	"time"

	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// Limits of the entries. A pending entry never goes.
const (
	mostInWorktree = 200
	mostInAll      = 1000
	lifetime       = 14 * 24 * time.Hour
	settled        = 24 * time.Hour // age of a time that confirms the age of an entry
)

// toExpire returns the moves that delete old entries, before a new entry of a worktree.
func (l *Log) toExpire(ctx context.Context, there map[string]plumbing.Hash, worktree string) (moves []refs.Move) {
	byWorktree, total := map[string][]string{}, 0
	for _, ref := range slices.Sorted(maps.Keys(there)) {
		if name, _, ok := parseName(ref); ok {
			byWorktree[name] = append(byWorktree[name], ref)
			total++
		}
	}
	drop := func(name string) bool {
		ref := byWorktree[name][0]
		c, err := l.repo.ReadCommit(there[ref])
		if err != nil || isPending(c.Message) {
			return false
		}
		byWorktree[name], total = byWorktree[name][1:], total-1
		moves = append(moves, refs.Move{Name: ref, Old: there[ref]})
		return true
	}
	for name := range byWorktree {
		for len(byWorktree[name]) > 0 && l.isOld(ctx, byWorktree[name], there) && drop(name) {
		}
	}
	for len(byWorktree[worktree]) >= mostInWorktree && drop(worktree) {
	}
	bySize := func(a, b string) int { return len(byWorktree[a]) - len(byWorktree[b]) }
	for total >= mostInAll && drop(slices.MaxFunc(slices.Sorted(maps.Keys(byWorktree)), bySize)) {
	}
	return moves
}

// isOld reports whether the oldest of some entries is older than lifetime. One clock alone is no
// proof, because it may be wrong: the time of another entry or of the commit of HEAD has to be past
// the end of the entry too, and a day old by now.
func (l *Log) isOld(ctx context.Context, names []string, there map[string]plumbing.Hash) bool {
	now := l.repo.Now()
	end := l.repo.CommittedAt(there[names[0]]).Add(lifetime)
	if end.Equal(time.Time{}.Add(lifetime)) || !now.After(end) {
		return false
	}
	confirms := func(at time.Time) bool { return at.After(end) && now.Sub(at) >= settled }
	if head, err := l.repo.ReadHead(ctx); err == nil && confirms(l.repo.CommittedAt(head.Commit)) {
		return true
	}
	return slices.ContainsFunc(names[1:], func(ref string) bool { return confirms(l.repo.CommittedAt(there[ref])) })
}
