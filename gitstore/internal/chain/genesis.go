package chain

import (
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/ident"
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
		Message: fmt.Sprintf("checkpoints of issue %s\n", i.RefName()),
	}
	c.Hash = plumbing.ComputeHash(plumbing.CommitObject, c.Encode())
	return c
}

// ledgerSubject is the start of a ledger commit's message.
const ledgerSubject = "ledger of issue "

// ledgerCommit returns a commit with a ledger on top of parent.
func (s *Chains) ledgerCommit(i checkpoint.Issue, tree, parent plumbing.Hash) repo.RawCommit {
	message := fmt.Sprintf("%s%s\n\n%s: %s\n%s: %s\n",
		ledgerSubject, i.RefName(), trailerIssue, i.RefName(), trailerVersion, FormatVersion)
	return s.NewCommit(tree, s.Now(), message, parent)
}

// FormatVersion is the version of the stored form.
const FormatVersion = "1.0"
