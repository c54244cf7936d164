package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/capture"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/secrets/scan"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// A SaveRequest holds the parameters of a save.
type SaveRequest struct {
	Issue checkpoint.Issue

	// Edit derives a new record from the previous record. For an issue's first
	// checkpoint, before is nil. Edit may change the record in place. It sets the
	// caller's values; the store sets ids, times, branch, files and snapshot. If another
	// process saves first, Edit is called again with another record, so it must not have
	// side effects.
	Edit func(before *checkpoint.Record) (*checkpoint.Record, error)

	// Keep preserves the id, time, branch and files that Edit imported from another
	// system, and fills in missing ones. A save then fails with *TakenError if a
	// checkpoint with that id exists or was dropped.
	Keep bool

	Branch    string   // branch of a detached HEAD as named by CI
	Worktree  bool     // include unstaged changes of tracked files
	Untracked bool     // include untracked files, but never ignored files
	Artifacts []string // include these files, even if ignored; relative to the root
	MaxSize   int64    // limit for the snapshot's new blobs in bytes, 0 for no limit
	MaxFile   int64    // limit for one untracked file in bytes, 0 for capture.DefaultMaxFile

	// Budget limits the time for reading the worktree, 0 for no limit. The record lists
	// the files that were left out.
	Budget time.Duration

	Newest    bool             // fail if the newest record cannot be read, instead of using an older record
	Retention retention.Policy // applied with the save, may be nil
	Redact    Redaction        // of the record that Edit returns
	Allow     scan.Allow       // exceptions for Redact
	IfChanged bool             // fail with ErrUnchanged if nothing has changed
	DryRun    bool             // do everything except writing
}

// A Saved is the result of a save.
type Saved struct {
	Checkpoint
	Ref      string
	Record   *checkpoint.Record
	Files    int             // number of captured paths and paths that differ from HEAD
	Pruned   []checkpoint.ID // checkpoints that retention dropped
	Warnings []string
}

// Save saves a checkpoint. In the same move of the ref it drops checkpoints that
// retention no longer keeps. If Save returns without an error, the checkpoint is durable
// and in the chain.
func (s *Store) Save(ctx context.Context, req SaveRequest) (*Saved, error) {
	if s.repo.Root == "" {
		return nil, &UnsupportedError{Feature: ErrBare.Error()}
	}
	if _, err := checkpoint.ParseIssue(string(req.Issue)); err != nil {
		return nil, err // its ref could not be parsed
	}
	k := s.newObjectWriter()
	snap, err := s.snapshot(ctx, req.Issue, req.files(s.keptOutputs(ctx, req.Issue)), k)
	if err != nil {
		return nil, fmt.Errorf("save issue %s: %w", req.Issue, err)
	}
	w := &saveOp{s: s, req: &req, snap: snap, k: k, created: s.now().UTC().Truncate(time.Microsecond)}
	var saved *Saved
	try := func() error {
		saved, err = w.append(ctx, k)
		return err
	}
	if req.DryRun {
		err = try()
	} else {
		w.needsRef = req.Keep || s.readResumed(req.Issue).ID != ""
		repair := func(ctx context.Context, i checkpoint.Issue) error { return s.repairOwn(ctx, i, w.needsRef) }
		err = s.retryAfter(ctx, req.Issue, repair, try)
	}
	if err != nil {
		return nil, fmt.Errorf("save issue %s: %w", req.Issue, err)
	}
	return saved, nil
}

// files returns the snapshot request of a save. Files in kept are captured if they are
// readable.
func (req *SaveRequest) files(kept []string) capture.Request {
	return capture.Request{
		Worktree: req.Worktree, Untracked: req.Untracked, Artifacts: req.Artifacts, Kept: kept,
		MaxSize: req.MaxSize, MaxFile: req.MaxFile, Budget: req.Budget, DryRun: req.DryRun,
	}
}

// A saveOp is the state of one save over all attempts.
type saveOp struct {
	s       *Store
	req     *SaveRequest
	snap    *capturedSnapshot
	k       *objectWriter
	created time.Time
	id      checkpoint.ID
	index   plumbing.Hash // the index commit

	// needsRef is set for a save that looks up other checkpoints of the chain, by the id
	// of the request or of a resume. Such a save requires that the chain ref exists.
	needsRef bool

	redacted []string // secrets found in the record's texts
}

// append tries once to add a checkpoint to the chain. It fails with errRefMoved if
// another process moved the ref first.
func (w *saveOp) append(ctx context.Context, k *objectWriter) (*Saved, error) {
	s, issue := w.s, w.req.Issue
	below, err := s.chainToSaveOn(ctx, issue)
	if err != nil {
		return nil, err
	}
	if below.tip.IsZero() {
		if err := s.checkName(ctx, issue); err != nil {
			return nil, err
		}
	}
	if below.deleted && w.needsRef {
		return nil, fmt.Errorf("%w: %s was deleted", errRefMoved, LiveRef(issue))
	}
	before, left := s.recordBefore(below)
	if err := below.below(); err != nil {
		left = append(left, fmt.Errorf("the record before is left out: %w", err))
	}
	if below.unread != nil {
		left = append(left, fmt.Errorf("what was dropped or pinned since is left out: %w", below.unread))
	}
	if err := w.refuse(left); err != nil {
		return nil, err
	}
	record, err := w.derive(before, below.newestClock())
	if err != nil {
		return nil, err
	}
	if err := w.free(ctx, below, record.ID()); err != nil {
		return nil, err
	}
	if w.req.IfChanged && w.unchanged(below, record) {
		if below.deleted && !w.req.DryRun {
			err = s.restoreRef(ctx, issue, plumbing.ZeroHash, below.tip)
		}
		return nil, cmp.Or(err, ErrUnchanged)
	}
	on, dropped := s.applyRetention(ctx, below, w.req.Retention, record, w.snap.Entries, k)
	commit, err := w.build(k, on, record)
	if err != nil {
		return nil, err
	}
	saved := &Saved{
		Checkpoint: checkpointOf(commit, issue), Ref: LiveRef(issue), Record: record,
		Files: w.snap.Count, Pruned: dropped, Warnings: append(messages(left), w.redacted...),
	}
	if w.req.DryRun {
		return saved, nil
	}
	k.reach(w.snap.head.commit)
	moves := func() ([]refs.Move, error) { return s.movesTo(ctx, below, commit.hash) }
	if err := s.publish(ctx, k, reflogSave(w.id, dropped), moves); err != nil {
		return nil, w.inChain(err)
	}
	if below.deleted {
		s.tellBack(issue)
	}
	if err := s.forgetResumed(issue); err != nil {
		saved.Warnings = append(saved.Warnings, fmt.Sprintf("the next save starts from the resumed record again: %v", err))
	}
	if err := k.protect(ctx); err != nil {
		return nil, w.inChain(err)
	}
	return saved, nil
}

// inChain adds the checkpoint's id to a DoneError, so that the user does not repeat the
// save.
func (w *saveOp) inChain(err error) error {
	var done *DoneError
	if errors.As(err, &done) {
		return &savedError{w.id, done}
	}
	return err
}

// A savedError is the DoneError of a save.
type savedError struct {
	id   checkpoint.ID
	done *DoneError
}

func (e *savedError) Error() string {
	return fmt.Sprintf("%s is in the chain, but: %v", e.id, e.done.Err)
}
func (e *savedError) Unwrap() error { return e.done }

// build adds the checkpoint's objects to the writer.
func (w *saveOp) build(k *objectWriter, on parent, r *checkpoint.Record) (rawCommit, error) {
	data, err := r.Encode()
	if err != nil {
		return rawCommit{}, err
	}
	entries := append([]trees.Entry{{Mode: trees.ModeFile, Name: "checkpoint.yaml", Hash: k.Add(plumbing.BlobObject, data)}}, w.snap.Entries...)
	if !on.ledger.IsEmpty() {
		entries = append(entries, trees.Entry{Mode: trees.ModeFile, Name: "ledger", Hash: k.Add(plumbing.BlobObject, on.ledger.Encode())})
	}
	if on.commit == genesis(w.req.Issue).hash {
		k.Add(plumbing.TreeObject, nil)
		k.addCommit(genesis(w.req.Issue))
	}
	if w.index.IsZero() {
		var heads []plumbing.Hash
		if !w.snap.head.commit.IsZero() {
			heads = append(heads, w.snap.head.commit)
		}
		message := fmt.Sprintf("index of %s\n", w.id)
		w.index = k.addCommit(w.s.newCommit(w.snap.Staged, w.created, message, heads...))
	}
	message := encodeMessage(w.req.Issue, r)
	if len(message) > maxMessage {
		return rawCommit{}, &LimitError{What: "note and phase", Size: int64(len(message)), Limit: maxMessage}
	}
	commit := w.s.newCommit(k.addTree(entries), w.created, message, on.commit, w.index)
	commit.hash = k.addCommit(commit)
	return commit, nil
}

func reflogSave(id checkpoint.ID, dropped []checkpoint.ID) string {
	if len(dropped) == 0 {
		return "save: " + string(id)
	}
	return fmt.Sprintf("save: %s; prune: %s", id, joinIDs(dropped))
}
