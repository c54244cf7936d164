package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// Namespaces of the stored form.
const (
	liveRefs    = "refs/checkpoints/"
	archiveRefs = "refs/checkpoints-archive/"
	bookRefs    = "refs/git-checkpoint/"
	ownRefs     = "refs/git-checkpoint/own/"
	fetchedRefs = "refs/git-checkpoint/fetched/"
	remoteRefs  = "refs/git-checkpoint/remote/"
	undoRefs    = "refs/git-checkpoint/undo/"
)

// LiveRef is the ref of an issue's chain.
func LiveRef(i checkpoint.Issue) string { return liveRefs + i.RefName() }

// ArchiveRef is the ref of an issue's archive.
func ArchiveRef(i checkpoint.Issue) string { return archiveRefs + i.RefName() }

func ownRef(i checkpoint.Issue) string     { return ownRefs + i.RefName() }
func fetchedRef(i checkpoint.Issue) string { return fetchedRefs + i.RefName() }

// readRef is what a ref points to, the zero hash when there is none. It fails
// with *CorruptError for one that is broken.
func (s *Store) readRef(ctx context.Context, name string) (plumbing.Hash, error) {
	hash, err := s.refs.Read(ctx, name)
	return hash, asCorrupt(err)
}

// asCorrupt says of a broken ref what is said of all that is broken.
func asCorrupt(err error) error {
	var broken *refs.BrokenError
	if errors.As(err, &broken) {
		return corrupt(broken.Name, "broken ref: %q is not an object name", broken.Text)
	}
	return err
}

// Issues lists the issues that have a chain, broken ones too, in the order of
// their refs. A ref that is no canonical key is left out and named in strange.
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
		names = s.noticeVanished(ctx, names)
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

// checkName refuses a new issue whose ref differs from an existing one in
// case alone: file systems without case would make one of the two.
func (s *Store) checkName(ctx context.Context, i checkpoint.Issue) error {
	return (&names{s: s}).check(ctx, i)
}

// names are the refs of all issues here, by their names without case. They are
// read for the first new issue.
type names struct {
	s      *Store
	folded map[string]string
}

// read lists the refs of issues.
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

// check refuses a new issue whose ref would be another's without case. One that is
// not refused is there from now on.
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
