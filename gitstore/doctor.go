package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/doctor"
)

// A Finding is a problem that Examine found, and its repair if there is one.
type Finding = doctor.Finding

// A Pace is how often the work on an issue was saved.
type Pace = doctor.Pace

// JudgePace returns a finding for each issue that is saved too rarely or too
// often, or whose lead does not answer. It reports an issue that was not saved for
// longer than stale, unless stale is 0.
func JudgePace(now time.Time, stale time.Duration, paces []Pace) []Finding {
	return doctor.JudgePace(now, stale, paces)
}

// Examine checks the files, refs and settings around the chains of the repository
// (see doctor.Judge). Inspect and Verify check the chains themselves. gitVersion is the
// version of git, such as {2, 54}.
func (s *Store) Examine(ctx context.Context, gitVersion [2]int) ([]doctor.Finding, error) {
	e, err := s.doctor.Examine(ctx, gitVersion)
	if err != nil {
		return nil, err
	}
	for _, issue := range e.Issues() {
		s.chains.RepairIfRewritten(ctx, issue)
	}
	return e.Findings(ctx)
}

// ObjectCounts returns git's counts of objects.
func (s *Store) ObjectCounts(ctx context.Context) (doctor.ObjectCounts, error) {
	return s.doctor.ObjectCounts(ctx)
}

// Mend applies a finding's repair and returns its description.
func (s *Store) Mend(ctx context.Context, m doctor.Mend) (string, error) {
	return s.doctor.Mend(ctx, m)
}

// A Usage is the disk space used by an issue's checkpoints.
type Usage = doctor.Usage

// Usage measures the disk space of an issue with its archive. Objects that several issues
// share count for each issue. It requires git 2.31, and reads every commit and tree.
func (s *Store) Usage(ctx context.Context, issue checkpoint.Issue) (Usage, error) {
	s.chains.RepairIfRewritten(ctx, issue)
	return s.doctor.Usage(ctx, issue)
}

// A Report is the result of Verify for one issue.
type Report = doctor.Report

// Verify reads all stored objects of an issue, live and archived: commits, records,
// ledgers, trees and blobs. The report contains unreadable objects and violations of the
// stored form. The error reports that Verify itself could not continue. Like git fsck,
// Verify detects objects whose content does not match their id.
func (s *Store) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	s.repo.SettleIfInterrupted(ctx, issue)
	return s.doctor.Verify(ctx, issue)
}

// Inspect is Verify without reading blobs; it only checks that they exist. Examine
// reports refs that point to missing commits.
func (s *Store) Inspect(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	s.repo.SettleIfInterrupted(ctx, issue)
	return s.doctor.Inspect(ctx, issue)
}

// NewestValid returns the newest checkpoint with a valid record, from which work can
// continue, and this record. It fails with *NoneError if there is no checkpoint, and with
// *CorruptError if no checkpoint is valid. It also fails if memory or file descriptors
// run out: then an older checkpoint would be the wrong result.
func (s *Store) NewestValid(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, *checkpoint.Record, error) {
	s.chains.RepairIfRewritten(ctx, issue)
	return s.doctor.NewestValid(ctx, issue)
}
