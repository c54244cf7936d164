package gitstore

import (
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/ident"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// genesisTime is 2026-01-01T00:00:00Z. Time and author belong to the stored form, so that
// every clone makes equal genesis commits.
var genesisTime = time.Unix(1767225600, 0)

// genesis returns the root commit of every chain of an issue.
func genesis(i checkpoint.Issue) rawCommit {
	by := ident.Person{Name: "git-checkpoint", Email: "git-checkpoint@localhost"}.Signature(genesisTime)
	c := rawCommit{
		tree:    trees.Empty,
		rest:    fmt.Appendf(nil, "author %s\ncommitter %s\n", by, by),
		message: fmt.Sprintf("checkpoints of issue %s\n", i.RefName()),
	}
	c.hash = plumbing.ComputeHash(plumbing.CommitObject, c.encode())
	return c
}

// ledgerSubject is the start of a ledger commit's message.
const ledgerSubject = "ledger of issue "

// ledgerCommit returns a commit with a ledger on top of parent.
func (s *Store) ledgerCommit(i checkpoint.Issue, tree, parent plumbing.Hash) rawCommit {
	message := fmt.Sprintf("%s%s\n\n%s: %s\n%s: %s\n",
		ledgerSubject, i.RefName(), trailerIssue, i.RefName(), trailerVersion, formatVersion)
	return s.newCommit(tree, s.now(), message, parent)
}

// formatVersion is the version of the stored form.
const formatVersion = "1.0"
