package repo

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// Namespaces of the stored form.
const (
	LiveRefs    = "refs/checkpoints/"
	ArchiveRefs = "refs/checkpoints-archive/"
	BookRefs    = "refs/git-checkpoint/"
	OwnRefs     = "refs/git-checkpoint/own/"
	fetchedRefs = "refs/git-checkpoint/fetched/"
	RemoteRefs  = "refs/git-checkpoint/remote/"
	UndoRefs    = "refs/git-checkpoint/undo/"
)

// LiveRef returns the ref of an issue's chain.
func LiveRef(i checkpoint.Issue) string { return LiveRefs + i.RefName() }

// ArchiveRef returns the ref of an issue's archive.
func ArchiveRef(i checkpoint.Issue) string { return ArchiveRefs + i.RefName() }

func OwnRef(i checkpoint.Issue) string     { return OwnRefs + i.RefName() }
func FetchedRef(i checkpoint.Issue) string { return fetchedRefs + i.RefName() }

// ReadRef returns a ref's value, or zero if missing. It fails with *CorruptError if the
// ref is broken.
func (s *Repo) ReadRef(ctx context.Context, name string) (plumbing.Hash, error) {
	hash, err := s.Refs.Read(ctx, name)
	return hash, asCorrupt(err)
}

// asCorrupt converts the error of a broken ref into a CorruptError.
func asCorrupt(err error) error {
	var broken *refs.BrokenError
	if errors.As(err, &broken) {
		return Corrupt(broken.Name, "broken ref: %q is not an object name", broken.Text)
	}
	return err
}

// UndoRefs returns an issue's safety snapshots.
func (s *Repo) UndoRefs(ctx context.Context, issue checkpoint.Issue) (map[string]plumbing.Hash, error) {
	return s.Refs.List(ctx, UndoRefs+issue.RefName()+"/")
}

// SafetyTime is the time format in names of safety snapshots. TakenBack is appended to
// the name of an undone snapshot if some paths had changed since the restore. The
// snapshot keeps their old contents until it expires.
const (
	SafetyTime = "20060102T150405.000000Z"
	TakenBack  = "-undone"
)
