package chain

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/ident"
	"git-checkpoint/gitstore/internal/join"
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

const genesisSubject = "checkpoints of issue "

// LedgerSubject is the start of a ledger commit's message.
const LedgerSubject = "ledger of issue "

// readLedger reads the ledger from the tree of the newest ledger or checkpoint commit,
// and marks pinned checkpoints and those that are gone. It skips foreign commits on top.
//
// If a partial clone lacks this ledger, readLedger sets c.Unread to the cause, because a ledger change
// would lose its entries. A save is safe: a later sync merges the ledgers.
func (s *Chains) readLedger(c *Chain) error {
	at := slices.IndexFunc(c.Commits, func(l ChainCommit) bool { return l.Ledger || l.ID != "" })
	if at < 0 {
		return nil
	}
	data, _, err := s.fileIn(s.repo.Objects, c.Commits[at].Raw.Tree, "ledger", ledger.MaxSize)
	switch {
	case errors.As(err, new(*repo.PromisedError)):
		c.Unread = repo.Lacked(c.Issue, c.Ref, err)
	case err != nil:
		return fmt.Errorf("%s: %w", c.Ref, err)
	default:
		if c.Ledger, err = ledger.Parse(data); err != nil {
			return repo.Corrupt(c.Ref, "%w", err)
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

// fileIn returns the content of a file in the tree of a commit, up to a limit of bytes. ok is false if the
// tree has no such file.
func (s *Chains) fileIn(objects trees.Reader, tree plumbing.Hash, name string, limit int64) (data []byte, ok bool, err error) {
	entries, err := trees.Read(objects, tree)
	if err != nil {
		return nil, false, err
	}
	e, ok := trees.Find(entries, name)
	if !ok {
		return nil, false, nil
	}
	if _, size, err := s.repo.Objects.Header(e.Hash); err == nil && size > limit {
		return nil, true, repo.Corrupt("blob "+e.Hash.String(), "%s: %d bytes, more than the limit of %d", name, size, limit)
	}
	data, err = trees.ReadAs(objects, plumbing.BlobObject, e.Hash)
	return data, true, err
}

// CarriesLedger reports whether c, which extends o, has the facts of o's ledger, or newer ones. In a
// partial clone, a save may not have been able to read that ledger.
func (c *Chain) CarriesLedger(o *Chain) bool {
	ours, both := join.MergeStates(c.state()), join.MergeStates(c.state(), join.State{Ledger: o.Ledger})
	return ours.Ledger.Equal(both.Ledger)
}
