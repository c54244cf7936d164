package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/secrets/scan"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// A SaveRequest holds the parameters of a save.
type SaveRequest struct {
	Command string // name of the command for errors, "" for save
	Issue   checkpoint.Issue

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

	Branch       string   // branch of a detached HEAD as named by CI
	Staged       bool     // capture staged changes only, and carry the other files
	Automatic    bool     // no person asked for the save: with status.showUntrackedFiles=no, omit untracked files
	Artifacts    []string // include these files, even if ignored; relative to the root
	MaxSize      int64    // limit for the snapshot's new blobs in bytes, 0 for no limit
	MaxFile      int64    // limit for one untracked file in bytes, 0 for snapshot.DefaultMaxFile
	MaxUntracked int      // limit for new untracked files of one directory, 0 for snapshot.DefaultMaxUntracked

	// Budget limits the time for reading the worktree, 0 for no limit. The record lists
	// the files that were left out.
	Budget time.Duration

	Newest    bool             // fail if the newest record cannot be read, instead of using an older record
	Retention retention.Policy // applied with the save, may be nil
	Redact    chain.Redaction  // of the record that Edit returns
	Allow     scan.Allow       // exceptions for Redact

	// DropInvalid drops values of Edit that break the rules of records, for saves that no
	// person can repeat. Otherwise the save fails.
	DropInvalid bool

	IfChanged bool // fail with ErrUnchanged if nothing has changed
	DryRun    bool // do everything except writing

	reread      bool  // begin a new index of the worktree
	recordBytes int64 // size of the record, once it leaves too little room for the files
}

// A Saved is the result of a save.
type Saved struct {
	chain.Checkpoint
	Ref      string
	Record   *checkpoint.Record
	DryRun   bool            // nothing was written
	Files    int             // number of captured paths and paths that differ from HEAD
	Pruned   []checkpoint.ID // checkpoints that retention dropped
	Dropped  []string        // invalid values that were left out, with reasons
	Warnings []string
}

// Save saves a checkpoint. In the same move of the ref it drops checkpoints that
// retention no longer keeps. If Save returns without an error, the checkpoint is durable
// and in the chain. The steps:
//
//  1. Git takes the state of the worktree on an index of this program, from a list that the
//     program vets (snapshot.Capturer). Paths that are left out are listed
//     (checkpoint.Snapshot.Skipped) and carried from another source.
//  2. The issue is locked. Interrupted operations of killed processes are settled, and a
//     rewritten chain is repaired.
//  3. The edit derives the record from that of the checkpoint which was resumed in this
//     worktree, otherwise from the newest one. Secrets in its texts are masked.
//  4. Retention decides which checkpoints go, and rewrites the commits above them.
//  5. The record, the state commit and the checkpoint's commit are encoded. The object
//     database writes all new objects durably, also objects that git wrote without a sync.
//  6. One transaction moves the refs by compare-and-swap. If another process moved a ref
//     first, the save repeats steps 2 to 6.
//  7. If a git gc has deleted an object meanwhile, the refs move back, and the save takes
//     another snapshot.
func (s *Store) Save(ctx context.Context, req SaveRequest) (*Saved, error) {
	defer trace.Begin(trace.Step, "save").End()
	if err := s.repo.CheckWorktree(); err != nil {
		return nil, err
	}
	if _, err := checkpoint.ParseIssue(string(req.Issue)); err != nil {
		return nil, err // its ref could not be parsed
	}
	saved, err := s.saveWhole(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("%s issue %s: %w", cmp.Or(req.Command, "save"), req.Issue, err)
	}
	if req.DryRun {
		return saved, nil
	}
	if failed, err := s.Files.KeepContent(&saved.Checkpoint); err != nil {
		saved.Warnings = append(saved.Warnings, fmt.Sprintf("git lfs prune can delete the content of %d files in this checkpoint, which could not be kept: %v", len(failed), err))
	}
	return saved, nil
}

// saveWhole saves with one snapshot. If the files leave no place for the record, or a git gc has
// deleted an object of the snapshot, it takes another one.
func (s *Store) saveWhole(ctx context.Context, req SaveRequest) (*Saved, error) {
	most, collects := mostSnapshots, false
	for tries := 1; ; tries++ {
		saved, err := s.saveOnce(ctx, req)
		if err == nil {
			return saved, nil
		}
		var over *overSize
		if !collects && s.repo.GCRuns() { // one gc may have ended, and the next one not begun
			most, collects = 4*mostSnapshots, true
		}
		switch {
		case tries >= most:
			return saved, err
		case errors.As(err, &over):
			req.recordBytes = over.record + over.record/8 + 4096 // with the list of files that are left out
			req.reread = true                                    // the own index has these files already
		case errors.Is(err, repo.ErrObjectsGone), errors.Is(err, plumbing.ErrObjectNotFound),
			collects && errors.As(err, new(*git.CommandError)): // gc also removes empty directories
			req.reread = true
		default:
			return saved, err
		}
	}
}

// An overSize reports that the files and the record together are above the size limit. The
// save then takes a smaller snapshot.
type overSize struct{ record int64 }

func (o *overSize) Error() string {
	return fmt.Sprintf("no place for a record of %d bytes beside the files", o.record)
}

// mostSnapshots limits the number of snapshots of one save. If a git gc deletes an object that git
// has just written, or a blob that only the own index knows, the save takes a new snapshot. If a
// gc ran after one of the tries, the limit is four times as high.
const mostSnapshots = 5

// saveOnce saves with one snapshot. It fails with ErrObjectsGone if a gc has deleted an object
// of the snapshot.
func (s *Store) saveOnce(ctx context.Context, req SaveRequest) (*Saved, error) {
	k := s.repo.NewObjectWriter()
	k.Records = true
	snap, err := s.Files.Snapshot(ctx, req.Issue, req.files(), k)
	if err != nil {
		return nil, err
	}
	w := &saveOp{store: s, req: &req, snap: snap, k: k, created: s.repo.Now().UTC().Truncate(time.Microsecond)}
	if req.DryRun {
		return w.append(ctx, k)
	}
	var saved *Saved
	err = s.chain.Retry(ctx, req.Issue, func() (err error) {
		saved, err = w.append(ctx, k)
		return err
	})
	return saved, err
}

// files returns the snapshot request of a save.
func (req *SaveRequest) files() snapshot.Request {
	most := req.MaxSize
	if most > 0 {
		most = max(most-req.recordBytes, 1)
	}
	return snapshot.Request{
		Staged: req.Staged, Automatic: req.Automatic, Artifacts: req.Artifacts, Idle: req.IfChanged,
		MaxSize: most, MaxFile: req.MaxFile, MaxUntracked: req.MaxUntracked, Budget: req.Budget, DryRun: req.DryRun,
		Reread: req.reread,
	}
}

// A saveOp is the state of one save over all attempts.
type saveOp struct {
	store   *Store
	req     *SaveRequest
	snap    *snapshot.CapturedSnapshot
	k       *repo.ObjectWriter
	created time.Time
	id      checkpoint.ID

	redacted []string        // secrets found in the record's texts
	tooLarge error           // size of a record that is kept in spite of it, or nil
	after    []checkpoint.ID // checkpoints that the worktree came after
}

// append tries once to add a checkpoint to the chain. It fails with ErrRefMoved if
// another process moved the ref first.
func (w *saveOp) append(ctx context.Context, k *repo.ObjectWriter) (*Saved, error) {
	s, issue := w.store, w.req.Issue
	current, err := s.chain.ReadChain(ctx, issue, repo.LiveRef(issue), 1)
	if err != nil {
		return nil, err
	}
	before, left := s.recordBefore(current)
	if err := current.CheckBoundary(); err != nil {
		left = append(left, fmt.Errorf("the record before is left out: %w", err))
	}
	if current.Unread != nil {
		left = append(left, fmt.Errorf("what was dropped or pinned since is left out: %w", current.Unread))
	}
	if err := w.refuse(left); err != nil {
		return nil, err
	}
	record, err := w.derive(ctx, before, current.NewestClock())
	if err != nil {
		return nil, err
	}
	dropped, err := w.correct(current, record)
	if err != nil {
		return nil, err
	}
	if err := w.checkImportedID(ctx, current, record.ID()); err != nil {
		return nil, err
	}
	if w.req.IfChanged && w.unchanged(ctx, current, record) {
		return nil, repo.ErrUnchanged
	}
	// The check reads the names of all refs. Most turns of agents end before it, without a change.
	if current.Tip.IsZero() {
		if err := (&chain.Names{Chains: s.chain}).Check(ctx, issue); err != nil {
			return nil, err
		}
	}
	w.after = current.After(s.chain.Here(ctx, issue).Heads)
	on, pruned := s.applyRetention(ctx, current, w.req.Retention, record, &work{w.snap.HeadTree, w.snap.Staged, w.snap.State}, k)
	commit, err := w.build(k, on, record)
	if err != nil {
		return nil, err
	}
	saved := &Saved{
		Checkpoint: chain.CheckpointOf(commit, issue), Ref: repo.LiveRef(issue), Record: record, DryRun: w.req.DryRun,
		Files: w.snap.Count, Pruned: pruned, Dropped: dropped, Warnings: append(messages(left), w.redacted...),
	}
	if w.tooLarge != nil {
		saved.Warnings = append(saved.Warnings, w.tooLarge.Error())
	}
	if w.req.DryRun {
		return saved, nil
	}
	agreed := chain.AddHere(k, issue, &chain.Here{
		StateCommit: chain.StateCommit{Tree: w.snap.Agreed, Staged: w.snap.Staged, Head: w.snap.Head.Commit},
		ID:          w.id, Heads: []checkpoint.ID{w.id}, Open: w.snap.Open, Rest: chain.SignedBy(commit),
	})
	moves := func() ([]refs.Move, error) {
		moves, err := s.chain.MovesTo(ctx, current, commit.Hash)
		if err != nil {
			return nil, err
		}
		here, err := s.chain.HereMoves(ctx, issue, agreed)
		return append(moves, here...), err
	}
	message := "save: " + string(w.id)
	if len(pruned) > 0 {
		message += "; prune: " + repo.JoinIDs(pruned)
	}
	if err := s.repo.Move(ctx, k, message, moves); err != nil {
		return nil, w.inChain(err)
	}
	err = k.Protect(ctx)
	if errors.Is(err, repo.ErrObjectsGone) && !repo.IsDone(err) {
		return nil, err // the ref has its former value
	}
	if err := s.chain.ForgetResumed(issue); err != nil {
		saved.Warnings = append(saved.Warnings, fmt.Sprintf("the next save starts from the resumed record again: %v", err))
	}
	if err != nil {
		return nil, w.inChain(err)
	}
	return saved, nil
}

// inChain adds the checkpoint's id to a DoneError, so that the user does not repeat the
// save.
func (w *saveOp) inChain(err error) error {
	var done *failure.DoneError
	if errors.As(err, &done) {
		return &savedError{w.id, done}
	}
	return err
}

// A savedError is the DoneError of a save.
type savedError struct {
	id   checkpoint.ID
	done *failure.DoneError
}

func (e *savedError) Error() string {
	return fmt.Sprintf("%s is in the chain, but: %v", e.id, e.done.Err)
}

func (e *savedError) Unwrap() error { return e.done }

// build adds the checkpoint's objects to the writer.
func (w *saveOp) build(k *repo.ObjectWriter, on parent, r *checkpoint.Record) (repo.RawCommit, error) {
	data, err := r.Encode()
	if err == nil {
		err = w.checkSize(int64(len(data)))
	}
	if err != nil {
		return repo.RawCommit{}, err
	}
	if on.commit == chain.Genesis(w.req.Issue).Hash {
		k.Add(plumbing.TreeObject, nil)
		k.AddCommit(chain.Genesis(w.req.Issue))
	}
	return chain.AddCheckpoint(k, chain.NewCheckpoint{
		Issue: w.req.Issue, Record: r, After: w.after, Entries: w.snap.Entries(), Ledger: on.ledger,
		Parent: on.commit, Headers: w.store.repo.NewCommit(plumbing.ZeroHash, r.CreatedAt(), w.created, "").Rest, Head: w.snap.Head.Commit,
	})
}

// checkSize fails if the record alone is above the size limit, and with
// *overSize if the record and the files are. A save that nobody can repeat keeps such a
// record, with a warning.
func (w *saveOp) checkSize(record int64) error {
	most := w.req.MaxSize
	switch {
	case most <= 0:
		return nil
	case record > most:
		hint := fmt.Sprintf("git config checkpoint.limits.checkpoint-mb %d", record>>20+1)
		tooLarge := failure.New(failure.Failure, hint, fmt.Sprintf("the record has %d bytes, more than the limit of %d for a checkpoint", record, most))
		if !w.req.DropInvalid {
			return tooLarge
		}
		w.tooLarge = tooLarge
		return nil
	case record+w.snap.Size > most && record > w.req.recordBytes:
		return &overSize{record}
	}
	return nil
}

// Together runs f, which saves, archives or prunes checkpoints of issues with this store. After f has
// returned, one transaction moves all refs, with message in the reflogs. If ctx is cancelled in f, the
// transaction still moves the refs of the operations that f has completed.
//
// If Together returns an error other than a DoneError, no ref has moved, and f may not have run. The
// error may concern only one issue, so the caller repeats the operations one by one.
func (s *Store) Together(ctx context.Context, message string, issues []checkpoint.Issue, f func()) error {
	return s.repo.Together(ctx, message, issues, f)
}

// looseLimit is the number of loose objects above which git packs them.
const looseLimit = 1000

// packSettings are the settings of git that packs loose objects. Git does not know the paths of these, so
// it compares each with many: with its default of 10, packs of turns are much larger. The memory limit
// has no effect on small objects.
var packSettings = []string{"-c", "core.fsync=pack,pack-metadata", "-c", "pack.window=250", "-c", "pack.windowMemory=64m"}

// PackLoose lets git pack the loose objects if there are many, in the background if git's settings
// allow that. Saves of agents at each turn would otherwise leave thousands of files. Git deletes the
// files of packed objects when it runs again, and joins the packs of several runs: alone, the packs of
// 1,000 turns are much larger. With extensions.preciousObjects, other repositories
// may borrow the objects, and they stay.
func (s *Store) PackLoose(ctx context.Context) error {
	// As git gc --auto does, one of 256 directories tells about all.
	some, err := os.ReadDir(filepath.Join(s.repo.Info.ObjectDir, "17"))
	if err != nil || len(some) <= looseLimit/256 || s.repo.Info.Precious {
		return nil
	}
	// Git deletes files that an earlier run has packed, but it does not sync the names of packs.
	if err := fsutil.SyncDir(filepath.Join(s.repo.Info.ObjectDir, "pack")); err != nil {
		return err
	}
	args := append(packSettings[:len(packSettings):len(packSettings)], "maintenance", "run", "--quiet", "--task=loose-objects")
	if !repository.Partial(s.repo.Config) { // the objects of a promisor's pack must stay in one
		args = append(args, "--task=incremental-repack")
	}
	if s.MayDetach() {
		err = s.repo.Git.Detach(args...)
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	_, err = s.repo.Git.Output(ctx, args...)
	return err
}

// MayDetach reports whether git's settings allow maintenance in the background:
// maintenance.autoDetach or, without it, gc.autoDetach.
func (s *Store) MayDetach() bool {
	for _, key := range []string{"maintenance.autodetach", "gc.autodetach"} {
		if value, set := git.Last(s.repo.Config, key); set {
			return git.Bool(value)
		}
	}
	return true
}
