package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/doctor"
)

// A Report is the result of a verification for one issue.
type Report = doctor.Report

// Verify is Doctor.Verification of one issue.
func (s *Store) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	return s.Doctor.Verification().Verify(ctx, issue)
}

// NewestValid returns the newest checkpoint with a valid record, from which work can
// continue, and this record. It fails with *NoneError if there is no checkpoint, and with
// *CorruptError if no checkpoint is valid. It also fails if memory or file descriptors
// run out: then an older checkpoint would be the wrong result.
func (s *Store) NewestValid(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, *checkpoint.Record, error) {
	return s.Doctor.NewestValid(ctx, issue, false)
}

// NewestIntact is NewestValid after a look at the contents of all files.
func (s *Store) NewestIntact(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, *checkpoint.Record, error) {
	return s.Doctor.NewestValid(ctx, issue, true)
}
