package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/refs"
)

// settle finds out what a git that failed has done, and what that means. One
// that had locked all refs, and then was killed or met a full disk, may have
// moved some: git renames one file after the other. Then the others follow.
func (m *mover) settle(ctx context.Context, moves []refs.Move, prepared bool, failed error) error {
	m.s.refs.Let()
	var left []refs.Move
	for _, move := range moves {
		now, err := m.s.readRef(ctx, move.Name)
		switch {
		case err != nil:
			return fmt.Errorf("move %s: %w", move.Name, failed)
		case now == move.Old:
			left = append(left, move)
		case now != move.New || !prepared:
			return fmt.Errorf("%w: %s is at %s", errRefMoved, move.Name, now)
		}
	}
	switch {
	case len(left) < len(moves):
		return m.goOn(ctx, moves, left)
	case staleRead(failed):
		return fmt.Errorf("%w: %w", errRefMoved, failed)
	}
	return fmt.Errorf("move %s: %w", moves[0].Name, m.s.nameTableLock(failed))
}

// nameTableLock adds the file to git's error about a locked reftable, which does
// not name it. The lock is removed by git, or stays if git was killed or the disk
// failed; whose it is cannot be known.
func (s *Store) nameTableLock(failed error) error {
	lock := filepath.Join(s.repo.CommonDir, "reftable", "tables.list.lock")
	if _, err := os.Lstat(lock); err != nil || !strings.Contains(failed.Error(), "cannot lock references") {
		return failed
	}
	return fmt.Errorf("%w: %s exists; if no git is running, remove it", failed, lock)
}

// goOn moves the refs that are left. If one of them cannot be moved, the note of
// the transaction stays, so that the next command of the issue completes it or
// rolls it back. It fails if that ref is a chain or an archive; the others, such
// as own/, are bookkeeping. Without the note, a repair would take an own/ that
// stayed behind for the work of this clone, and undo what a rewrite has done.
func (m *mover) goOn(ctx context.Context, moves, left []refs.Move) error {
	if len(left) > 0 {
		m.s.issueLock.Hold()
		err := m.s.moveRefs(ctx, m.message, left...)
		switch {
		case isDone(err):
			m.s.issueLock.Release()
			return err
		case err == nil:
			if at, err := m.s.progressOf(ctx, left); err == nil && len(at.left) == 0 {
				m.s.issueLock.Release() // else the move of a chain has left own/ behind
			}
		case slices.ContainsFunc(left, isChain):
			return fmt.Errorf("%s was moved, but not all that belongs to it, and the next command of the issue settles that: %w", moves[0].Name, err)
		case m.s.issueLock == nil: // there is no note
			return afterMove(err)
		}
	}
	return afterMove(m.s.syncRefDirs(moves))
}

// isChain reports whether a move is that of a chain or an archive.
func isChain(m refs.Move) bool {
	return !strings.HasPrefix(m.Name, ownRefs) && !strings.HasPrefix(m.Name, fetchedRefs)
}

// staleRead reports whether git took an old value of a packed ref for the
// present one: it knows packed-refs by size, date and inode, and a file that
// was replaced twice may have them again. The text is that of the C locale.
func staleRead(err error) bool { return strings.Contains(err.Error(), " but expected ") }
