package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/doctor"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/repo"
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

// A Fix is the repair of a Finding.
type Fix = doctor.Fix

// A Doctor checks, repairs and measures the stored checkpoints and the repository around
// them.
type Doctor struct {
	repo   *repo.Repo
	chain  *chain.Chains
	doctor *doctor.Doctor
}

// Check examines the files, refs and settings around the chains of the repository. A
// Verification checks the chains themselves. gitVersion is the version of git, such as
// {2, 54}.
func (d Doctor) Check(ctx context.Context, gitVersion [2]int) ([]Finding, error) {
	if d.repo.CacheRefs(ctx) {
		defer d.repo.Refs.Release()
	}
	c, err := d.doctor.Check(ctx, gitVersion)
	if err != nil {
		return nil, err
	}
	for _, issue := range c.Issues() {
		d.chain.RepairIfRewritten(ctx, issue)
	}
	return c.Findings(ctx)
}

// Fix applies the repair of a finding and returns its description.
func (d Doctor) Fix(ctx context.Context, f Fix) (string, error) { return d.doctor.Fix(ctx, f) }

// SettleInterrupted completes or rolls back the interrupted transactions of all issues.
// Otherwise the next command for an issue would do this.
func (d Doctor) SettleInterrupted(ctx context.Context) error {
	return d.repo.SettleInterrupted(ctx)
}

// SetPhases sets the phases of the settings. A Verification knows them in every record.
func (d Doctor) SetPhases(phases []string) { d.doctor.Phases = phases }

// ObjectCounts returns git's counts of objects.
func (d Doctor) ObjectCounts(ctx context.Context) (doctor.ObjectCounts, error) {
	return d.doctor.ObjectCounts(ctx)
}

// Features returns the features of the repository that its stored form depends on, for a bug
// report, such as "sha1 objects", "files refs" and "shallow".
func (d Doctor) Features() []string {
	info := d.repo.Info
	all := []string{ObjectFormat + " objects", info.RefFormat + " refs"}
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"bare", info.Bare},
		{"shallow", info.Shallow},
		{"partial", repository.Partial(d.repo.Config)},
		{"linked worktree", info.Dir != info.CommonDir},
		{"precious objects", info.Precious},
		{"alternates in the environment", info.Alternates != ""},
	} {
		if f.on {
			all = append(all, f.name)
		}
	}
	return all
}

// A Usage is the disk space used by an issue's checkpoints.
type Usage = doctor.Usage

// Usage measures the disk space of an issue with its archive. Objects that several issues
// share count for each issue. It requires git 2.31, and reads every commit and tree.
func (d Doctor) Usage(ctx context.Context, issue checkpoint.Issue) (Usage, error) {
	d.chain.RepairIfRewritten(ctx, issue)
	return d.doctor.Usage(ctx, issue)
}

// A Report is the result of a Verification for one issue.
type Report = doctor.Report

// A Verification verifies issues one after the other. It reads a sound object once, even if
// several issues have the object. A command uses a new Verification for each run.
type Verification struct {
	repo *repo.Repo
	run  *doctor.Verification
}

// Verification returns a new Verification. If deep is false, it only checks that blobs exist,
// and leaves refs to missing commits to Check.
func (d Doctor) Verification(deep bool) *Verification {
	return &Verification{d.repo, d.doctor.Verification(deep)}
}

// Verify reads all stored objects of an issue, live and archived: commits, records,
// ledgers, trees and blobs. The report contains unreadable objects and violations of the
// stored form. The error reports that Verify itself could not continue. Like git fsck,
// Verify detects objects whose content does not match their id.
func (v *Verification) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	v.repo.SettleIfInterrupted(ctx, issue)
	return v.run.Verify(ctx, issue)
}

// Verify is Verification.Verify of one issue.
func (s *Store) Verify(ctx context.Context, issue checkpoint.Issue) (*Report, error) {
	return s.Doctor.Verification(true).Verify(ctx, issue)
}

// NewestValid returns the newest checkpoint with a valid record, from which work can
// continue, and this record. It fails with *NoneError if there is no checkpoint, and with
// *CorruptError if no checkpoint is valid. It also fails if memory or file descriptors
// run out: then an older checkpoint would be the wrong result.
func (s *Store) NewestValid(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, *checkpoint.Record, error) {
	s.chain.RepairIfRewritten(ctx, issue)
	return s.Doctor.doctor.NewestValid(ctx, issue)
}
