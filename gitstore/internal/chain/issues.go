package chain

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
)

// HasArchive reports whether an issue's archive exists.
func (s *Chains) HasArchive(ctx context.Context, i checkpoint.Issue) bool {
	hash, err := s.ReadRef(ctx, repo.ArchiveRef(i))
	return err != nil || !hash.IsZero()
}

// HasChain reports whether an issue's chain exists. A broken ref is no chain.
func (s *Chains) HasChain(ctx context.Context, i checkpoint.Issue) bool {
	hash, err := s.ReadRef(ctx, repo.LiveRef(i))
	return err == nil && !hash.IsZero()
}

// HasIssue reports whether an issue has a chain or an archive.
func (s *Chains) HasIssue(ctx context.Context, i checkpoint.Issue) bool {
	for _, ref := range []string{repo.LiveRef(i), repo.ArchiveRef(i)} {
		if hash, err := s.ReadRef(ctx, ref); err != nil || !hash.IsZero() {
			return true
		}
	}
	return false
}

// Issues returns all issues with a chain, including broken chains, sorted by ref. If
// archived is set, it returns the issues with an archive. Refs that are no canonical keys
// are returned in strange.
func (s *Chains) Issues(ctx context.Context, archived bool) (issues []checkpoint.Issue, strange []string, err error) {
	prefix := repo.LiveRefs
	if archived {
		prefix = repo.ArchiveRefs
	}
	names, err := s.Refs.Names(ctx, prefix)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		issue, err := checkpoint.IssueFromRef(strings.TrimPrefix(name, prefix))
		if err != nil {
			strange = append(strange, name)
			continue
		}
		issues = append(issues, issue)
	}
	return issues, strange, nil
}

// CheckName fails if a new issue's ref differs from an existing ref only in case.
// Case-insensitive file systems would treat both as one file.
func (s *Chains) CheckName(ctx context.Context, i checkpoint.Issue) error {
	return (&Names{Chains: s}).Check(ctx, i)
}

// A Names holds the chain refs by their names in lower case. It is filled before the
// first check.
type Names struct {
	Chains *Chains
	folded map[string]string
}

// read lists the chain refs.
func (n *Names) read(ctx context.Context) error {
	if n.folded != nil {
		return nil
	}
	there, err := n.Chains.Refs.Values(ctx, repo.LiveRefs)
	if err != nil {
		return err
	}
	n.folded = map[string]string{}
	for name := range there {
		n.folded[strings.ToLower(name)] = name
	}
	return nil
}

// Check fails if a new issue's ref differs from an existing ref only in case. Otherwise
// it adds the ref.
func (n *Names) Check(ctx context.Context, i checkpoint.Issue) error {
	if err := n.read(ctx); err != nil {
		return err
	}
	name, key := repo.LiveRef(i), strings.ToLower(repo.LiveRef(i))
	if there, ok := n.folded[key]; ok && there != name {
		return &repo.RefusedError{Reason: fmt.Sprintf("issue %s: %s differs in case alone", i, there)}
	}
	n.folded[key] = name
	return nil
}
