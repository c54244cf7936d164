package gitstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/retention"
)

// Types of results and parameters about checkpoints, explained at their
// declarations.
type (
	Approval   = chain.Approval
	Checkpoint = chain.Checkpoint
	Exposed    = remote.Exposed
	Filed      = ledger.Archival
	List       = chain.List
	Outgoing   = chain.Outgoing
	Point      = chain.Point
	Redaction  = chain.Redaction
	Resumption = chain.Resumption
	Synced     = chain.Synced
)

// Archive moves checkpoints from an issue's chain to its archive, and returns their ids.
// Without ids, Archive moves all checkpoints. The ledger records reason and time, so
// every clone can compute archival ages.
func (s *Store) Archive(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID, why retention.Reason) (moved []checkpoint.ID, err error) {
	err = s.Operate(ctx, "archive", issue, func() error {
		moved, err = s.chain.Archive(ctx, issue, ids, "", why)
		return err
	})
	return moved, err
}

// ArchiveBut archives all checkpoints except one. If there is no other checkpoint, it
// returns no id.
func (s *Store) ArchiveBut(ctx context.Context, issue checkpoint.Issue, keep checkpoint.ID, why retention.Reason) (moved []checkpoint.ID, err error) {
	err = s.Operate(ctx, "archive", issue, func() error {
		moved, err = s.chain.Archive(ctx, issue, nil, keep, why)
		return err
	})
	return moved, err
}

// CheckArchive fails if Archive or Drop would refuse the chain of an issue. It changes
// nothing.
func (s *Store) CheckArchive(ctx context.Context, issue checkpoint.Issue) error {
	return s.chain.CheckArchive(ctx, issue)
}

// List returns the newest limit checkpoints of an issue, newest first, or all if limit is
// 0. If the issue has no checkpoints, the list is empty.
func (s *Store) List(ctx context.Context, issue checkpoint.Issue, limit int) (*List, error) {
	return s.chain.List(ctx, issue, limit)
}

// Archived lists an issue's archived checkpoints as List does, with reason and time from
// the ledger.
func (s *Store) Archived(ctx context.Context, issue checkpoint.Issue, limit int) (*List, error) {
	return s.chain.Archived(ctx, issue, limit)
}

// Record returns the record of a checkpoint. Parse errors are CorruptErrors that wrap the
// decoder's error with line and column.
func (s *Store) Record(c *Checkpoint) (*checkpoint.Record, error) { return s.chain.Record(c) }

// VerifiedRecord returns the record of a checkpoint that the caller is going to act on.
// It fails if the commit violates the stored form, or if the record has another id than
// the commit.
func (s *Store) VerifiedRecord(c *Checkpoint) (*checkpoint.Record, error) {
	return s.chain.VerifiedRecord(c)
}

// RecordBytes returns the stored bytes of a record.
func (s *Store) RecordBytes(c *Checkpoint) ([]byte, error) { return s.chain.RecordBytes(c) }

// Drop permanently deletes live or archived checkpoints of an issue. The ledger prevents
// their return from another clone. If an id is in neither chain, Drop fails with
// *NotFoundError and deletes nothing. The empty id stands for foreign commits, which have
// no id.
func (s *Store) Drop(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID) error {
	return s.Operate(ctx, "drop", issue, func() error { return s.chain.Drop(ctx, issue, ids, false) })
}

// DropContent permanently deletes one of several contents under an id from the chain of an issue.
func (s *Store) DropContent(ctx context.Context, c *Checkpoint) error {
	return s.Operate(ctx, "drop", c.Issue, func() error { return s.chain.DropContent(ctx, c) })
}

// DropAll deletes all checkpoints of a chain, or all but pinned ones, like Drop. It also deletes those
// below a shallow boundary that are not pinned.
func (s *Store) DropAll(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID) error {
	return s.Operate(ctx, "drop", issue, func() error { return s.chain.Drop(ctx, issue, ids, true) })
}

// Latest names the newest checkpoint of an issue, valid or not. "latest~2" is the second
// checkpoint before it.
const Latest = chain.Latest

// First names the oldest remaining checkpoint of an issue. This is usually the start of
// the work, since retention keeps checkpoints of the start of a phase. A checkpoint with
// the id "first" or "latest" is named by its commit.
const First = chain.First

// Find returns the checkpoint of an issue that matches a name, as Chains.Find of package chain
// describes it.
func (s *Store) Find(ctx context.Context, issue checkpoint.Issue, name string) (*Checkpoint, error) {
	return s.chain.Find(ctx, issue, name)
}

// ByID returns the checkpoint of an issue with an exact id. An imported id can be any
// word, even a name such as "latest". If the chain has no such checkpoint, ByID searches
// the archive. It fails with *NotFoundError.
func (s *Store) ByID(ctx context.Context, issue checkpoint.Issue, id checkpoint.ID) (*Checkpoint, error) {
	return s.chain.ByID(ctx, issue, id)
}

// Newest returns the newest checkpoint of an issue, or *NoneError.
func (s *Store) Newest(ctx context.Context, issue checkpoint.Issue) (*Checkpoint, error) {
	return s.chain.Newest(ctx, issue)
}

// Point returns the checkpoint from which the work goes on, or *NoneError.
func (s *Store) Point(ctx context.Context, issue checkpoint.Issue) (*Point, error) {
	return s.chain.Point(ctx, issue)
}

// Mismatches returns the contradictions between the parts of a checkpoint, as verify reports them.
// A tool that rewrites history leaves them. r is the record of the checkpoint.
func (s *Store) Mismatches(c *Checkpoint, r *checkpoint.Record) []string {
	commit, err := s.repo.ReadCommit(c.Commit)
	if err != nil {
		return nil
	}
	return s.chain.Mismatches(commit, r)
}

// PointRecord returns the checkpoint from which the work goes on and its record, with errors
// of Point and VerifiedRecord.
func (s *Store) PointRecord(ctx context.Context, issue checkpoint.Issue) (*Point, *checkpoint.Record, error) {
	p, err := s.Point(ctx, issue)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.VerifiedRecord(p.Checkpoint)
	return p, r, err
}

// ValidRecord returns the record of a checkpoint from which work continues. Unlike
// VerifiedRecord, it also fails for schema violations.
func (s *Store) ValidRecord(c *Checkpoint) (*checkpoint.Record, error) {
	return s.chain.ValidRecord(c)
}

// HasArchive reports whether an issue's archive exists.
func (s *Store) HasArchive(ctx context.Context, i checkpoint.Issue) bool {
	return s.chain.HasArchive(ctx, i)
}

// HasIssue reports whether an issue has a chain or an archive.
func (s *Store) HasIssue(ctx context.Context, i checkpoint.Issue) bool {
	return s.chain.HasIssue(ctx, i)
}

// Lacks reports whether other tools removed checkpoints of this clone from an issue's chain, or
// deleted its ref.
func (s *Store) Lacks(ctx context.Context, i checkpoint.Issue) bool { return s.chain.Lacks(ctx, i) }

// Issues returns all issues with a chain, including broken chains, sorted by ref. If
// archived is set, it returns the issues with an archive. Refs that are no canonical keys
// are returned in strange.
func (s *Store) Issues(ctx context.Context, archived bool) (issues []checkpoint.Issue, strange []string, err error) {
	return s.chain.Issues(ctx, archived)
}

// CacheRefs reads the refs of all issues once, for a command that reads many issues. The cache
// ends with the returned function, or with the first change of a ref by this store. Other
// processes may move refs meanwhile: the command then reads the former chains. If the refs
// cannot be listed, each is read when it is needed. Within another CacheRefs it does nothing.
func (s *Store) CacheRefs(ctx context.Context) (release func()) {
	if s.repo.CacheRefs(ctx) {
		return s.repo.Refs.Release
	}
	return func() {}
}

// A Tip is an issue with its newest checkpoint.
type Tip struct {
	Issue      checkpoint.Issue
	Checkpoint *Checkpoint // nil if the chain cannot be read
	Err        error       // of a chain that cannot be read
}

// NewestOfEach returns the newest checkpoint of each issue that has a live checkpoint, sorted by ref.
// It reads no records. Refs that are no canonical keys are returned in strange.
func (s *Store) NewestOfEach(ctx context.Context) (tips []Tip, strange []string, err error) {
	defer s.CacheRefs(ctx)()
	issues, strange, err := s.Issues(ctx, false)
	for _, i := range issues {
		l, err := s.List(ctx, i, 1)
		switch {
		case err != nil:
			tips = append(tips, Tip{Issue: i, Err: err})
		case len(l.Checkpoints) > 0:
			tips = append(tips, Tip{Issue: i, Checkpoint: &l.Checkpoints[0]})
		}
	}
	return tips, strange, err
}

// A LastSaved has the issues that were saved last, in the order of CompareTips, then of
// checkpoint.CompareIssues.
type LastSaved struct {
	Tips   []Tip
	Others int // number of other issues that have checkpoints, or whose chain cannot be read
}

// LastSaved returns the limit issues that were saved last. It reads no records.
func (s *Store) LastSaved(ctx context.Context, limit int) (last LastSaved, err error) {
	tips, _, err := s.NewestOfEach(ctx)
	slices.SortFunc(tips, func(a, b Tip) int {
		return cmp.Or(CompareTips(a, b), checkpoint.CompareIssues(a.Issue, b.Issue))
	})
	shown := tips[:min(limit, len(tips))]
	return LastSaved{shown, len(tips) - len(shown)}, err
}

// EachIssue calls each with the issues that have a chain, until it returns false.
func (s *Store) EachIssue(ctx context.Context, each func(checkpoint.Issue) bool) error {
	defer s.CacheRefs(ctx)()
	issues, _, err := s.Issues(ctx, false)
	for _, i := range issues {
		if !each(i) {
			break
		}
	}
	return err
}

// CompareTips orders issues by the time of their last save or import, the last first. Chains
// that cannot be read come last.
func CompareTips(a, b Tip) int { return b.saved().Compare(a.saved()) }

func (t Tip) saved() time.Time {
	if t.Checkpoint == nil {
		return time.Time{}
	}
	return t.Checkpoint.Saved
}

// Pin sets or removes a checkpoint's pin, and reports any change. Retention never drops a
// pinned checkpoint, live or archived.
func (s *Store) Pin(ctx context.Context, issue checkpoint.Issue, id checkpoint.ID, on bool) (changed bool, err error) {
	command := map[bool]string{true: "pin", false: "unpin"}[on]
	err = s.Operate(ctx, command, issue, func() error {
		changed, err = s.chain.Pin(ctx, issue, id, on)
		return err
	})
	return changed, err
}

// How saves treat secrets.
const (
	RedactNone = chain.RedactNone // no check
	RedactWarn = chain.RedactWarn // warn
	RedactMask = chain.RedactMask // warn, and save a mask instead
)

// Results of a Fetch, a Push or a Sync for one issue.
const (
	Joined   = chain.Joined   // both sides now have the merge of both chains
	UpToDate = chain.UpToDate // both sides have the same chain
	Fetched  = chain.Fetched  // local chain now equals remote chain
	Pushed   = chain.Pushed   // remote chain now equals local chain
	Ahead    = chain.Ahead    // the local chain has more checkpoints
	Behind   = chain.Behind   // the remote chain has more checkpoints
	Diverged = chain.Diverged // each side has checkpoints that the other lacks; no ref was moved
	Absent   = chain.Absent   // the remote has no chain of the issue
	Failed   = chain.Failed   // see Synced.Err
)

// Remotes returns the default remotes for checkpoints, first the one that pushes go to: checkpoint.remote,
// otherwise those of git. git pushes to branch.<name>.pushRemote, remote.pushDefault, branch.<name>.remote
// or origin, in this order, and fetches from branch.<name>.remote or origin. <name> is the branch of the
// issue, if one is given and this clone has its branch, otherwise that of HEAD. Remotes fails with
// ErrNoRemote. If git would push nowhere, it returns an error with the remotes of a fetch.
func (s *Store) Remotes(ctx context.Context, issues ...checkpoint.Issue) ([]string, error) {
	return s.chain.Remotes(ctx, issues...)
}

// RemoteNames returns the names of the configured remotes.
func (s *Store) RemoteNames() []string { return remote.Names(s.repo.Config) }

// ShownRemote returns a remote's name for output, without password.
func ShownRemote(name string) string { return chain.ShownRemote(name) }

// SetResumed records a resume of a checkpoint in this worktree. Repeated resumes without
// a save in between increment the counters. The record of the next save mentions a stale
// checkpoint.
func (s *Store) SetResumed(c *Checkpoint, now Resumption) error {
	return s.chain.SetResumed(c, now)
}

// Resumed returns the state of the checkpoint's resumes in this worktree since the last
// save.
func (s *Store) Resumed(c *Checkpoint) Resumption { return s.chain.Resumed(c) }
