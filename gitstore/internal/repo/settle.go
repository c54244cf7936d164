package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/refs"
)

// settle handles the failure of a git that moves refs, based on the current refs. Git
// renames one lock file after the other. If git was killed or the disk was full
// meanwhile, some refs may have moved. Then settle moves the remaining refs.
func (m *mover) settle(ctx context.Context, moves []refs.Move, prepared bool, failed error) error {
	m.s.Refs.Let()
	var left []refs.Move
	for _, move := range moves {
		now, err := m.s.ReadRef(ctx, move.Name)
		switch {
		case err != nil:
			return fmt.Errorf("move %s: %w", move.Name, failed)
		case now == move.Old:
			left = append(left, move)
		case now != move.New || !prepared:
			return fmt.Errorf("%w: %s is at %s", ErrRefMoved, move.Name, now)
		}
	}
	switch {
	case len(left) < len(moves):
		return m.moveRemaining(ctx, moves, left)
	case staleRead(failed):
		return fmt.Errorf("%w: %w", ErrRefMoved, failed)
	}
	return fmt.Errorf("move %s: %w", moves[0].Name, m.s.nameTableLock(failed))
}

// nameTableLock adds the path of the lock file to git's error about a locked reftable,
// which lacks it. Normally git removes the lock. The lock remains if git was killed or a
// disk failed; its owner cannot be determined.
func (s *Repo) nameTableLock(failed error) error {
	lock := filepath.Join(s.Info.CommonDir, "reftable", "tables.list.lock")
	if _, err := os.Lstat(lock); err != nil || !strings.Contains(failed.Error(), "cannot lock references") {
		return failed
	}
	return fmt.Errorf("%w: %s exists; if no git is running, remove it", failed, lock)
}

// moveRemaining moves the remaining refs. If a ref cannot be moved, the transaction's
// note stays. The next command for the issue then completes the transaction or rolls it
// back. moveRemaining fails only if that ref is a chain or an archive; other refs, such
// as own/, are bookkeeping. The note is necessary: without it, a repair would treat an
// old own/ as lost work and revert the rewrite.
func (m *mover) moveRemaining(ctx context.Context, moves, left []refs.Move) error {
	if len(left) > 0 {
		m.s.IssueLock.Hold()
		err := m.s.MoveRefs(ctx, m.message, left...)
		switch {
		case IsDone(err):
			m.s.IssueLock.Release()
			return err
		case err == nil:
			if at, err := m.s.progressOf(ctx, left); err == nil && len(at.left) == 0 {
				m.s.IssueLock.Release() // otherwise the chain has moved, but own/ has not
			}
		case slices.ContainsFunc(left, isChain):
			return fmt.Errorf("%s was moved, but not all that belongs to it, and the next command of the issue settles that: %w", moves[0].Name, err)
		case m.s.IssueLock == nil: // without a lock there is no note
			return AfterMove(err)
		}
	}
	return AfterMove(m.s.syncRefDirs(moves))
}

// isChain reports whether a move is that of a chain or an archive.
func isChain(m refs.Move) bool {
	return !strings.HasPrefix(m.Name, OwnRefs) && !strings.HasPrefix(m.Name, fetchedRefs)
}

// staleRead reports whether git used an outdated value of a packed ref. Git identifies
// packed-refs by size, date and inode. If the file was replaced twice, all three may be
// equal again. The text is git's message in the C locale.
func staleRead(err error) bool { return strings.Contains(err.Error(), " but expected ") }
