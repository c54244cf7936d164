package chain

import (
	"bytes"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxAbove limits the commits that Above reads.
const maxAbove = 1000

// Above returns the part of a chain above older, a former tip of the same chain. It returns nil
// unless all commits above older are plain saves: valid checkpoints that the ledger keeps, with
// the same ledger as older. Then the chain accounts for the chain at older, and a comparison of
// both chains would find nothing else. The result is neither rooted nor cut.
func (s *Chains) Above(issue checkpoint.Issue, ref string, tip, older plumbing.Hash) *Chain {
	if tip.IsZero() || older.IsZero() || s.repo.Info.Shallow || s.repo.Opened != nil {
		return nil
	}
	c := &Chain{Issue: issue, Ref: ref, Tip: tip}
	for at := tip; at != older; {
		raw, err := s.repo.ReadCommit(at)
		if err != nil || len(raw.Parents) == 0 || len(c.Commits) == maxAbove {
			return nil
		}
		l := ChainCommit{Raw: raw, Ledger: IsLedger(raw), Checkpoint: CheckpointOf(raw, issue)}
		if l.Ledger || l.ID == "" || !l.Valid() {
			return nil
		}
		c.Commits, at = append(c.Commits, l), raw.Parents[0]
	}
	if len(c.Commits) == 0 || !s.keepsLedger(c, older) {
		return nil
	}
	return c
}

// keepsLedger reports whether the commits of a chain have the ledger of older, and the ledger
// concerns none of them. It reads the ledger of the chain.
func (s *Chains) keepsLedger(c *Chain, older plumbing.Hash) bool {
	former, err := s.repo.ReadCommit(older)
	if err != nil || belowIn(former.Message) != nil {
		return false
	}
	data, err := s.ledgerIn(c.Commits[0].Raw.Tree)
	if err != nil {
		return false
	}
	before, err := s.ledgerIn(former.Tree)
	if err != nil || !bytes.Equal(data, before) {
		return false
	}
	if c.Ledger, err = ledger.Parse(data); err != nil {
		return false
	}
	for i := range c.Commits {
		if id := c.Commits[i].ID; c.Ledger.Deleted[id] || c.Ledger.IsArchived(id) {
			return false
		}
	}
	for _, a := range c.Ledger.Archived {
		switch retention.Reason(a.Reason) {
		case retention.ReasonCompleted, retention.ReasonFailed, retention.ReasonAbandoned:
			return false // see EndedElsewhere
		}
	}
	return true
}

// TipOnly returns a chain of which only the tip is known.
func TipOnly(issue checkpoint.Issue, tip plumbing.Hash) *Chain {
	return &Chain{Issue: issue, Ref: repo.LiveRef(issue), Tip: tip, Ledger: ledger.New()}
}
