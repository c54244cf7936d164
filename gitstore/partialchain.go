package gitstore

import (
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"

	"github.com/go-git/go-git/v5/plumbing"
)

// readLedgerBelow reads the newest ledger of a chain whose tip's ledger is
// lacked: the trees that are here, newest first. The chain remembers the cause,
// since a change of the ledger would lose what the tip's ledger says. An append
// does not: a sync joins the ledgers.
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

// carriesLedger reports whether c, which goes on from o, still says what o's
// ledger says is gone. A save in a partial clone may not have been able to read
// that ledger. A ledger commit above o is a change on purpose.
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

// withoutGone returns a chain here as it takes part in a sync of a partial
// clone: without the checkpoints that the remote's chain does not have and whose
// content can no longer be fetched. No remote would take a chain with them. The
// result has no tip if something is left out, so that a join builds on another.
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

// isGone reports whether the record of a checkpoint is lacked. It is in no
// other checkpoint, so that a remote which has collected it lacks the rest, too.
func (s *Store) isGone(c *Checkpoint) bool {
	_, err := s.RecordBytes(c)
	return errors.As(err, new(*PromisedError))
}

// leftOut tells which checkpoints a sync has left out.
func leftOut(i checkpoint.Issue, ids []checkpoint.ID) []string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("issue %s: left out, since neither this partial clone nor a remote has the content: %s; the commits stay in git reflog %s", i, joinIDs(ids), LiveRef(i))}
}
