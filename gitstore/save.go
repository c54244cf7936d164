package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/refs"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/scan"
	"git-checkpoint/gitstore/snapshot"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A SaveRequest says what to save.
type SaveRequest struct {
	Issue checkpoint.Issue

	// Edit derives the record from the one before, which is nil for the first
	// checkpoint of an issue and may be changed in place. It sets what the
	// caller knows; ids, times, branch, files and snapshot are the store's. It
	// is called again with another record when another writer came first, so
	// it must not have effects.
	Edit func(before *checkpoint.Record) (*checkpoint.Record, error)

	// Keep leaves the id, the time, the branch and the files alone that Edit
	// put into the record, another system's, and fills in those that it left
	// out. A save then fails with *TakenError when there is a checkpoint of
	// that id, or one was dropped.
	Keep bool

	Branch    string   // what to record on a detached HEAD, where CI knows it
	Worktree  bool     // also unstaged changes of tracked files
	Untracked bool     // also untracked files, never ignored ones
	Artifacts []string // also these files, ignored ones too; relative to the root
	MaxSize   int64    // of the snapshot's new blobs in bytes, 0 for no limit
	MaxFile   int64    // of one untracked file in bytes, 0 for snapshot.DefaultMaxFile

	// Budget bounds the time for reading the worktree, 0 for no limit. What is
	// not read by then is named in the record, and left out.
	Budget time.Duration

	Newest    bool             // fail where the record to start from cannot be read, instead of taking one before it
	Retention retention.Policy // applied with the save, nil for none
	Redact    Redaction        // of what Edit makes of the record
	Allow     scan.Allow       // what is no secret there
	IfChanged bool             // fail with ErrUnchanged when there is nothing new
	DryRun    bool             // do everything but write
}

// Saved is the outcome of a save.
type Saved struct {
	Checkpoint
	Ref      string
	Record   *checkpoint.Record
	Files    int             // paths that differ from HEAD, or were captured
	Pruned   []checkpoint.ID // what retention dropped
	Warnings []string
}

// Save records a checkpoint and, in the same move of the ref, drops what
// retention no longer keeps. When it returns without an error the checkpoint
// is durable and in the chain.
func (s *Store) Save(ctx context.Context, req SaveRequest) (*Saved, error) {
	if s.repo.Root == "" {
		return nil, &UnsupportedError{Feature: ErrBare.Error()}
	}
	if _, err := checkpoint.ParseIssue(string(req.Issue)); err != nil {
		return nil, err // its ref could not be read back
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

// files returns the part of the request that a snapshot is made by. The files in
// kept are captured as far as they can be read.
func (req *SaveRequest) files(kept []string) snapshot.Request {
	return snapshot.Request{
		Worktree: req.Worktree, Untracked: req.Untracked, Artifacts: req.Artifacts, Kept: kept,
		MaxSize: req.MaxSize, MaxFile: req.MaxFile, Budget: req.Budget, DryRun: req.DryRun,
	}
}

// A saveOp is one save over all its tries.
type saveOp struct {
	s       *Store
	req     *SaveRequest
	snap    *capturedSnapshot
	k       *objectWriter
	created time.Time
	id      checkpoint.ID
	index   plumbing.Hash // the index commit

	// needsRef is set for a save that looks for other checkpoints of the chain, by an
	// id of the request or of a resume: the chain's ref has to be there.
	needsRef bool

	redacted []string // what was found in the record's texts
}

// append tries once to put the checkpoint on top of the chain. It fails with
// errRefMoved when another writer was first.
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
		Checkpoint: commit.describe(issue), Ref: LiveRef(issue), Record: record,
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

// inChain adds the checkpoint's id to a DoneError. Another save would make a
// second checkpoint.
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
