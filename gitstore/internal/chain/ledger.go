package chain

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/ident"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// genesisTime is 2026-01-01T00:00:00Z. Time and author belong to the stored form, so that
// every clone makes equal genesis commits.
var genesisTime = time.Unix(1767225600, 0)

// Genesis returns the root commit of every chain of an issue.
func Genesis(i checkpoint.Issue) repo.RawCommit {
	by := ident.Person{Name: "git-checkpoint", Email: "git-checkpoint@localhost"}.Signature(genesisTime)
	c := repo.RawCommit{
		Tree:    trees.Empty,
		Rest:    fmt.Appendf(nil, "author %s\ncommitter %s\n", by, by),
		Message: genesisSubject + i.RefName() + "\n",
	}
	c.Hash = plumbing.ComputeHash(plumbing.CommitObject, c.Encode())
	return c
}

// genesisSubject is the start of a genesis commit's message.
const genesisSubject = "checkpoints of issue "

// LedgerSubject is the start of a ledger commit's message.
const LedgerSubject = "ledger of issue "

// FormatVersion is the version of the stored form.
const FormatVersion = "1.0"

// readLedger reads the ledger from the tree of the newest ledger or checkpoint commit,
// and marks pinned checkpoints and those that are gone. It skips foreign commits on top.
//
// If a partial clone lacks this ledger, readLedger reads the newest available one, and sets c.Unread
// to the cause, because a ledger change would lose entries of the tip's ledger. A save is safe: a
// later sync merges the ledgers.
func (s *Chains) readLedger(c *Chain) error {
	for i := range c.Commits {
		l := &c.Commits[i]
		if !l.Ledger && l.ID == "" || c.Unread != nil && !s.repo.Objects.Has(l.Raw.Tree) {
			continue
		}
		data, err := s.ledgerIn(s.repo.Objects, l.Raw.Tree)
		if err == nil {
			var known *ledger.Ledger
			if known, err = ledger.Parse(data); err == nil {
				c.Ledger = known
				break
			}
			err = repo.Corrupt(c.Ref, "%w", err)
		} else if c.Unread == nil && errors.As(err, new(*repo.PromisedError)) {
			c.Unread = repo.Lacked(c.Issue, c.Ref, err)
		} else {
			err = fmt.Errorf("%s: %w", c.Ref, err)
		}
		if c.Unread == nil {
			return err
		}
	}
	for i := range c.Commits {
		if l := &c.Commits[i]; l.ID != "" && c.Ledger.DeletesContent(l.ID) {
			if err := s.compute(l); err != nil {
				return fmt.Errorf("%s: %w", c.Ref, err)
			}
		}
	}
	c.markGone()
	return nil
}

// ledgerIn returns a tree's ledger, or nil without ledger.
func (s *Chains) ledgerIn(objects trees.Reader, tree plumbing.Hash) ([]byte, error) {
	entries, err := trees.Read(objects, tree)
	if err != nil {
		return nil, err
	}
	e, ok := trees.Find(entries, "ledger")
	if !ok {
		return nil, nil
	}
	if size, err := s.repo.Objects.Size(e.Hash); err == nil && size > ledger.MaxSize {
		return nil, repo.Corrupt("blob "+e.Hash.String(), "%w", repo.TooLarge("ledger", size, ledger.MaxSize))
	}
	return trees.ReadAs(objects, plumbing.BlobObject, e.Hash)
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
		for _, id := range o.Ledger.IDs(ledger.Deleted) {
			if !c.Ledger.HasDeleted(id) {
				return false
			}
		}
		for _, id := range o.Ledger.IDs(ledger.Archived) {
			if !c.Ledger.IsArchived(id) && !c.Ledger.HasDeleted(id) {
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
	if s.repo.Opened == nil || c.Tip.IsZero() || c.Tip == theirs.Tip {
		return c, nil
	}
	there := theirs.Index()
	rest := *c
	rest.Commits = nil
	var gone []checkpoint.ID
	for _, l := range c.Commits {
		o := there[l.ID]
		stays := l.Ledger || theirs.Ledger.Dead(l.ID, l.Content) || o != nil && o.Member() == l.Member()
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
