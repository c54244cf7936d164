package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"

	"github.com/go-git/go-git/v5/plumbing"
)

// Undone says what Undo took back.
type Undone struct {
	What     string          // restore, prune, drop or archive
	IDs      []checkpoint.ID // what came back to the chain
	Restored *Restored       // for a restore
}

// An entry of a reflog: where the ref stood before and after a move.
type logEntry struct {
	old, new plumbing.Hash
	message  string
	at       time.Time
}

// Undo takes back this clone's last restore, prune, drop or archive of an
// issue: what it removed from the chain comes back, what was saved since
// stays. It fails with ErrNothingToUndo.
func (s *Store) Undo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	last, err := s.lastRemoval(ctx, issue)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.lastSafety(ctx, issue)
	if err != nil {
		return nil, err
	}
	switch {
	case snapshot != nil && (last == nil || snapshot.at.After(last.at)):
		restored, err := s.undoRestore(ctx, snapshot)
		return &Undone{What: "restore", Restored: restored}, err
	case last != nil:
		return s.undoRemoval(ctx, issue, last)
	}
	return nil, fmt.Errorf("undo for issue %s: %w", issue, ErrNothingToUndo)
}

// reflog lists the moves of a ref, newest first.
func (s *Store) reflog(ctx context.Context, ref string) ([]logEntry, error) {
	out, err := s.git.Output(ctx, "log", "-g", "--no-show-signature", "--date=unix", "--format=%H%x00%gd%x00%gs%x00", ref, "--")
	if err != nil {
		return nil, fmt.Errorf("read the reflog of %s: %w", ref, err)
	}
	var entries []logEntry
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		_, date, _ := strings.Cut(strings.TrimSuffix(fields[i+1], "}"), "@{")
		seconds, _ := strconv.ParseInt(date, 10, 64)
		entries = append(entries, logEntry{
			new: plumbing.NewHash(strings.TrimSpace(fields[i])), message: fields[i+2], at: time.Unix(seconds, 0),
		})
	}
	for i := range entries {
		if i+1 < len(entries) {
			entries[i].old = entries[i+1].new
		}
	}
	return entries, nil
}

// lastRemoval is the newest removal in the reflog of an issue's chain that was
// not taken back, nil when there is none. Every undo takes back the newest
// removal below it, so undos pair with removals like brackets.
func (s *Store) lastRemoval(ctx context.Context, issue checkpoint.Issue) (*logEntry, error) {
	if tip, err := s.readRef(ctx, LiveRef(issue)); err != nil || tip.IsZero() {
		return nil, err
	}
	entries, err := s.reflog(ctx, LiveRef(issue))
	if err != nil {
		return nil, err
	}
	undone := 0
	for i, e := range entries {
		switch {
		case strings.HasPrefix(e.message, "undo: "):
			undone++
		case removal(e.message) == "":
		case undone > 0:
			undone--
		default:
			return &entries[i], nil
		}
	}
	return nil, nil
}

// removal is what a reflog message says was done to remove checkpoints, "" for
// other moves.
func removal(message string) string {
	for _, verb := range []string{"prune", "drop", "archive"} {
		if strings.HasPrefix(message, verb+": ") {
			return verb
		}
	}
	if strings.HasPrefix(message, "save: ") && strings.Contains(message, "; prune: ") {
		return "prune"
	}
	return ""
}

// undoRemoval puts what a move took out of the chain back in.
func (s *Store) undoRemoval(ctx context.Context, issue checkpoint.Issue, last *logEntry) (*Undone, error) {
	done := &Undone{What: removal(last.message)}
	err := s.alter(ctx, issue, func(c *chain, k *sink) (*change, error) {
		back, err := s.removedBy(issue, last)
		if err != nil {
			return nil, err
		}
		back = slices.DeleteFunc(back, func(l link) bool { return c.find(l.ID) != nil })
		done.IDs = nil
		for _, l := range back {
			done.IDs = append(done.IDs, l.ID)
		}
		ch := &change{
			verb: "undo", ids: done.IDs, insert: back,
			ledger: func(l *ledger.Ledger) { revive(l, done.IDs) },
		}
		archive, err := s.readChain(ctx, issue, ArchiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		ch.also, err = s.leaveArchive(archive, setOf(done.IDs), k)
		return ch, err
	})
	if err != nil {
		return nil, fmt.Errorf("undo the last %s of issue %s: %w", done.What, issue, err)
	}
	return done, nil
}

// removedBy are the checkpoints that the chain had before a move and not
// after it, newest first.
func (s *Store) removedBy(issue checkpoint.Issue, e *logEntry) ([]link, error) {
	before, err := s.walk(issue, LiveRef(issue), e.old, 0)
	if err != nil {
		return nil, err
	}
	after, err := s.walk(issue, LiveRef(issue), e.new, 0)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(before.links, func(l link) bool {
		return l.ledger || l.ID == "" || after.find(l.ID) != nil
	}), nil
}

// revive forgets that ids are gone.
func revive(l *ledger.Ledger, ids []checkpoint.ID) {
	for _, id := range ids {
		delete(l.Deleted, id)
		delete(l.Archived, id)
		delete(l.Pruned, id)
	}
}
