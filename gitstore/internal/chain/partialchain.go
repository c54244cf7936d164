package chain

import (
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// readOlderLedger reads the newest available ledger of a chain if a partial clone lacks
// the ledger of the tip. It sets c.Unread to the cause, because a ledger change would
// lose entries of the tip's ledger. A save is safe: a later sync merges the ledgers.
func (s *Chains) readOlderLedger(c *Chain, cause error) {
	c.Unread = repo.Lacked(c.Issue, c.Ref, cause)
	for i := range c.Commits {
		l := &c.Commits[i]
		if !l.Ledger && l.ID == "" || !s.Objects.Has(l.Raw.Tree) {
			continue
		}
		data, err := s.ledgerIn(l.Raw.Tree)
		if err != nil {
			continue
		}
		if known, err := ledger.Parse(data); err == nil {
			c.Ledger = known
			return
		}
	}
}

// CarriesLedger reports whether c, which extends o, preserves all deletions and archivals
// of o's ledger. In a partial clone, a save may not have been able to read that ledger. A
// ledger commit above o is a deliberate change.
func (c *Chain) CarriesLedger(o *Chain) bool {
	for i := range c.Commits {
		l := &c.Commits[i]
		if l.Raw.Hash != o.Tip {
			if l.Ledger {
				return true
			}
			continue
		}
		for id := range o.Ledger.Deleted {
			if !c.Ledger.Deleted[id] {
				return false
			}
		}
		for id := range o.Ledger.Archived {
			if !c.Ledger.IsArchived(id) && !c.Ledger.Deleted[id] {
				return false
			}
		}
		return true
	}
	return true
}

// OmitUnfetchable returns the local chain for a sync in a partial clone. It omits
// checkpoints that the remote chain lacks and whose content cannot be fetched any more,
// because remotes would reject them. If checkpoints are omitted, the result has no tip,
// so that a merge builds on another chain.
func (s *Chains) OmitUnfetchable(c, theirs *Chain) (*Chain, []checkpoint.ID) {
	if s.Opened == nil || c.Tip.IsZero() || c.Tip == theirs.Tip {
		return c, nil
	}
	there := theirs.Index()
	rest := *c
	rest.Commits = nil
	var gone []checkpoint.ID
	for _, l := range c.Commits {
		o := there[l.ID]
		stays := l.Ledger || theirs.Ledger.Dead(l.ID) || o != nil && o.content() == l.content()
		if stays || !s.isGone(&l.Checkpoint) {
			rest.Commits = append(rest.Commits, l)
			continue
		}
		if o == nil {
			gone = append(gone, l.ID)
		}
	}
	if len(rest.Commits) == len(c.Commits) {
		return c, nil
	}
	rest.Tip = plumbing.ZeroHash
	return &rest, gone
}

// isGone reports whether a checkpoint's record is missing and cannot be fetched. No other
// checkpoint shares this blob. So a remote without the record has pruned the rest of the
// checkpoint as well.
func (s *Chains) isGone(c *Checkpoint) bool {
	_, err := s.RecordBytes(c)
	return errors.As(err, new(*repo.PromisedError))
}

// LeftOut returns a warning with the checkpoints that a sync left out, or nil.
func LeftOut(i checkpoint.Issue, ids []checkpoint.ID) []string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("issue %s: left out, since neither this partial clone nor a remote has the content: %s; the commits stay in git reflog %s", i, repo.JoinIDs(ids), repo.LiveRef(i))}
}
