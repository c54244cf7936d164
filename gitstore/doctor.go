package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/doctor"
)

// A Finding is a problem that Check found, and its repair if there is one.
type Finding = doctor.Finding

// A Pace is how often the work on an issue was saved.
type Pace = doctor.Pace

// JudgePace returns a finding for each issue that is saved too rarely or too
// often, or whose lead does not answer. It reports an issue that was not saved for
// longer than stale, unless stale is 0.
func JudgePace(now time.Time, stale time.Duration, paces []Pace) []Finding {
	return doctor.JudgePace(now, stale, paces)
}

// A Report is the result of a verification for one issue.
type Report = doctor.Report

// Verify is Doctor.Verification of one issue.
func (s *Store) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	return s.Doctor.Verification(true).Verify(ctx, issue)
}

// NewestValid returns the newest checkpoint with a valid record, from which work can
// continue, and this record. It fails with *NoneError if there is no checkpoint, and with
// *CorruptError if no checkpoint is valid. It also fails if memory or file descriptors
// run out: then an older checkpoint would be the wrong result.
func (s *Store) NewestValid(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, *checkpoint.Record, error) {
	return s.Doctor.NewestValid(ctx, issue)
}
