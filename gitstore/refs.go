package gitstore

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

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

// LiveRef returns the ref of an issue's chain.
func LiveRef(i checkpoint.Issue) string { return liveRefs + i.RefName() }

// ArchiveRef returns the ref of an issue's archive.
func ArchiveRef(i checkpoint.Issue) string { return archiveRefs + i.RefName() }

func ownRef(i checkpoint.Issue) string     { return ownRefs + i.RefName() }
func fetchedRef(i checkpoint.Issue) string { return fetchedRefs + i.RefName() }

// readRef returns a ref's value, or zero if missing. It fails with *CorruptError if the
// ref is broken.
func (s *Store) readRef(ctx context.Context, name string) (plumbing.Hash, error) {
	hash, err := s.refs.Read(ctx, name)
	return hash, asCorrupt(err)
}

// asCorrupt converts the error of a broken ref into a CorruptError.
func asCorrupt(err error) error {
	var broken *refs.BrokenError
	if errors.As(err, &broken) {
		return corrupt(broken.Name, "broken ref: %q is not an object name", broken.Text)
	}
	return err
}

// undoRefs returns an issue's safety snapshots.
func (s *Store) undoRefs(ctx context.Context, issue checkpoint.Issue) (map[string]plumbing.Hash, error) {
	return s.refs.List(ctx, undoRefs+issue.RefName()+"/")
}

// safetyTime is the time format in names of safety snapshots. takenBack is appended to
// the name of an undone snapshot if some paths had changed since the restore. The
// snapshot keeps their old contents until it expires.
const (
	safetyTime = "20060102T150405.000000Z"
	takenBack  = "-undone"
)
