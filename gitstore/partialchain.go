package gitstore

import (
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"

	"github.com/go-git/go-git/v5/plumbing"
)

// readLedgerBelow reads the newest available ledger of a chain if a partial clone lacks
// the ledger of the tip. It sets c.unread to the cause, because a ledger change would
// lose entries of the tip's ledger. A save is safe: a later sync merges the ledgers.
func (s *Store) readLedgerBelow(c *chain, cause error) {
	c.unread = lacked(c.issue, c.ref, cause)
	for i := range c.commits {
		l := &c.commits[i]
		if !l.ledger && l.ID == "" || !s.objects.Has(l.commit.tree) {
			continue
		}
		data, err := s.ledgerIn(l.commit.tree)
		if err != nil {
			continue
		}
		if known, err := ledger.Parse(data); err == nil {
			c.ledger = known
			return
		}
	}
}

// carriesLedger reports whether c, which extends o, preserves all deletions and archivals
// of o's ledger. In a partial clone, a save may not have been able to read that ledger. A
// ledger commit above o is a deliberate change.
func (c *chain) carriesLedger(o *chain) bool {
	for i := range c.commits {
		l := &c.commits[i]
		if l.commit.hash != o.tip {
			if l.ledger {
				return true
			}
			continue
		}
		for id := range o.ledger.Deleted {
			if !c.ledger.Deleted[id] {
				return false
			}
		}
		for id := range o.ledger.Archived {
			if !c.ledger.IsArchived(id) && !c.ledger.Deleted[id] {
				return false
			}
		}
		return true
	}
	return true
}

// withoutGone returns the local chain for a sync in a partial clone. It omits checkpoints
// that the remote chain lacks and whose content cannot be fetched any more, because
// remotes would reject them. If checkpoints are omitted, the result has no tip, so that a
// merge builds on another chain.
func (s *Store) withoutGone(c, theirs *chain) (*chain, []checkpoint.ID) {
	if s.opened == nil || c.tip.IsZero() || c.tip == theirs.tip {
		return c, nil
	}
	there := theirs.index()
	rest := *c
	rest.commits = nil
	var gone []checkpoint.ID
	for _, l := range c.commits {
		o := there[l.ID]
		stays := l.ledger || theirs.ledger.Dead(l.ID) || o != nil && o.content() == l.content()
		if stays || !s.isGone(&l.Checkpoint) {
			rest.commits = append(rest.commits, l)
			continue
		}
		if o == nil {
			gone = append(gone, l.ID)
		}
	}
	if len(rest.commits) == len(c.commits) {
		return c, nil
	}
	rest.tip = plumbing.ZeroHash
	return &rest, gone
}

// isGone reports whether a checkpoint's record is missing and cannot be fetched. No other
// checkpoint shares this blob. So a remote without the record has pruned the rest of the
// checkpoint as well.
func (s *Store) isGone(c *Checkpoint) bool {
	_, err := s.RecordBytes(c)
	return errors.As(err, new(*PromisedError))
}

// leftOut returns a warning with the checkpoints that a sync left out, or nil.
func leftOut(i checkpoint.Issue, ids []checkpoint.ID) []string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("issue %s: left out, since neither this partial clone nor a remote has the content: %s; the commits stay in git reflog %s", i, joinIDs(ids), LiveRef(i))}
}
