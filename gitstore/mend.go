package gitstore

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// Borrows reports whether the repository borrows objects from others.
func (s *Store) Borrows() bool { return len(s.repo.Info.ObjectDirs()) > 1 }

// Mend replaces the lost objects of a report by intact copies from alternates and remotes. It returns
// their number, and the errors of remotes that did not answer. It fetches into an empty store: git
// fetch leaves out what the refs here should have, and git fetch --refetch fails at a damaged object.
// The request names no remote and no issue.
func (s *Store) Mend(ctx context.Context, report *Report, req OpenRemoteRequest, remotes []string) (mended int, err error) {
	sources := s.alternates()
	defer func() {
		for _, source := range sources {
			source.Close()
		}
	}()
	req.Issues, req.Archived, req.Whole = []checkpoint.Issue{report.Issue}, true, true
	given := map[plumbing.Hash]bool{}
	var failed []error
	for err == nil && len(report.Lost) > 0 {
		k := s.repo.NewObjectWriter()
		before := len(given)
		for _, h := range report.Lost {
			if kind, content := intactCopy(sources, h); kind != plumbing.InvalidObject && !given[h] {
				given[k.Add(kind, content)] = true
			}
		}
		switch {
		case len(given) > before:
			if err = k.Flush(ctx); err == nil {
				s.repo.Objects.Close()
				report, err = s.Verify(ctx, report.Issue) // finds objects below the mended ones
			}
		case len(remotes) == 0:
			return len(given), errors.Join(failed...)
		default:
			req.Remote, remotes = remotes[0], remotes[1:]
			if there, err := s.OpenRemote(ctx, req); err != nil {
				failed = append(failed, err)
			} else {
				defer there.Close()
				sources = append(sources, there.repo.Objects)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("mend issue %s: %w", report.Issue, err)
	}
	return len(given), err
}

// alternates opens the object directories that this repository borrows from.
func (s *Store) alternates() (found []*odb.Database) {
	for _, dir := range s.repo.Info.ObjectDirs()[1:] {
		if there, err := odb.Open(odb.Config{Dir: dir, Git: s.repo.Git}); err == nil {
			found = append(found, there)
		}
	}
	return found
}

// intactCopy returns an object of the first source that has it undamaged, otherwise InvalidObject.
func intactCopy(sources []*odb.Database, h plumbing.Hash) (plumbing.ObjectType, []byte) {
	for _, source := range sources {
		if kind, content, err := source.Read(h); err == nil && plumbing.ComputeHash(kind, content) == h {
			return kind, content
		}
	}
	return plumbing.InvalidObject, nil
}
