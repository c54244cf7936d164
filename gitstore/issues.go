package gitstore

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// HasArchive reports whether an issue's archive exists.
func (s *Store) HasArchive(ctx context.Context, i checkpoint.Issue) bool {
	hash, err := s.readRef(ctx, ArchiveRef(i))
	return err != nil || !hash.IsZero()
}

// HasIssue reports whether an issue has a chain or an archive.
func (s *Store) HasIssue(ctx context.Context, i checkpoint.Issue) bool {
	for _, ref := range []string{LiveRef(i), ArchiveRef(i)} {
		if hash, err := s.readRef(ctx, ref); err != nil || !hash.IsZero() {
			return true
		}
	}
	s.repairIfRewritten(ctx, i)
	return s.has(ctx, LiveRef(i))
}

// Issues returns all issues with a chain, including broken chains, sorted by ref. If
// archived is set, it returns the issues with an archive. Refs that are no canonical keys
// are returned in strange.
func (s *Store) Issues(ctx context.Context, archived bool) (issues []checkpoint.Issue, strange []string, err error) {
	prefix := liveRefs
	if archived {
		prefix = archiveRefs
	}
	names, err := s.refs.Names(ctx, prefix)
	if err != nil {
		return nil, nil, err
	}
	if !archived {
		names = s.restoreDeletedRefs(ctx, names)
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

// checkName fails if a new issue's ref differs from an existing ref only in case.
// Case-insensitive file systems would treat both as one file.
func (s *Store) checkName(ctx context.Context, i checkpoint.Issue) error {
	return (&names{s: s}).check(ctx, i)
}

// A names holds the chain refs by their names in lower case. It is filled before the
// first check.
type names struct {
	s      *Store
	folded map[string]string
}

// read lists the chain refs.
func (n *names) read(ctx context.Context) error {
	if n.folded != nil {
		return nil
	}
	there, err := n.s.refs.Values(ctx, liveRefs)
	if err != nil {
		return err
	}
	n.folded = map[string]string{}
	for name := range there {
		n.folded[strings.ToLower(name)] = name
	}
	return nil
}

// check fails if a new issue's ref differs from an existing ref only in case. Otherwise
// it adds the ref.
func (n *names) check(ctx context.Context, i checkpoint.Issue) error {
	if err := n.read(ctx); err != nil {
		return err
	}
	name, key := LiveRef(i), strings.ToLower(LiveRef(i))
	if there, ok := n.folded[key]; ok && there != name {
		return &RefusedError{Reason: fmt.Sprintf("issue %s: %s differs in case alone", i, there)}
	}
	n.folded[key] = name
	return nil
}
