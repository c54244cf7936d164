package capture

import (
	"context"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"
)

// A Source is the worktree to capture, with data about its repository.
type Source struct {
	Git       git.Git           // runs in the repository
	Config    []git.ConfigEntry // git configuration
	CommonDir string            // common git directory
	Root      string            // top-level directory
}

// A Request selects captured files besides the index.
type Request struct {
	Worktree  bool     // unstaged changes of tracked files
	Untracked bool     // untracked files, except ignored files
	Artifacts []string // required files relative to the root, including ignored files
	Kept      []string // optional files, skipped if unreadable
	MaxSize   int64    // limit for new blobs of the snapshot in bytes, 0 means unlimited
	MaxFile   int64    // limit for one untracked file in bytes, 0 for DefaultMaxFile

	Budget time.Duration // time limit for files not named in Artifacts or Kept, 0 means unlimited
	DryRun bool          // git may not store objects either
}

// DefaultMaxFile limits one untracked file, in bytes. Artifacts and tracked files have no
// individual limit.
const DefaultMaxFile = 1 << 20

// A capture adds worktree files to a snapshot.
type capture struct {
	*Source
	ctx     context.Context
	k       Sink
	snap    *Snapshot
	room    int64 // remaining bytes below the size limit
	maxFile int64
	dry     bool        // git may not store objects either
	late    func() bool // reports whether the time limit passed
	skipped int         // total number, also if the record's list is truncated
}

// Take adds files outside the index to the snapshot and lists skipped files in
// snap.Facts. It returns an error if a required artifact cannot be stored. Staged files
// may exceed the size limit; callers check that.
func (s *Source) Take(ctx context.Context, snap *Snapshot, req Request, k Sink) error {
	c := capture{
		Source: s, ctx: ctx, k: k, snap: snap, room: req.MaxSize - snap.Size, maxFile: req.MaxFile, dry: req.DryRun,
		late: func() bool { return false },
	}
	if req.MaxSize <= 0 {
		c.room = noLimit
	}
	if c.maxFile <= 0 {
		c.maxFile = DefaultMaxFile
	}
	snap.Facts.Worktree, snap.Facts.Untracked = req.Worktree, req.Untracked
	if err := c.artifacts(req.Artifacts, req.Kept); err != nil {
		return err
	}
	defer c.spend(req.Budget)()
	if req.Worktree {
		if err := c.worktree(); c.failed(err) {
			return fmt.Errorf("read worktree: %w", err)
		}
	}
	if req.Untracked {
		if err := c.untracked(); c.failed(err) {
			return fmt.Errorf("read untracked files: %w", err)
		}
	}
	c.closeSkipped()
	return nil
}

// spend starts the time limit for files not named by the request.
func (c *capture) spend(budget time.Duration) (done func()) {
	if budget <= 0 {
		return func() {}
	}
	whole := c.ctx
	ctx, cancel := context.WithTimeout(whole, budget)
	c.ctx, c.late = ctx, func() bool { return ctx.Err() != nil && whole.Err() == nil }
	return cancel
}

// failed reports whether an error is fatal. If the time limit passed, failed records the
// missing files and returns false, since a partial checkpoint is better than no
// checkpoint.
func (c *capture) failed(err error) bool {
	if err != nil && c.late() {
		c.skip(".", 0, checkpoint.OutOfTime)
		return false
	}
	return err != nil
}

func (c *capture) add(name string, files []trees.FileEntry) {
	if tree := trees.Build(c.k, files); !tree.IsZero() {
		c.snap.Entries = append(c.snap.Entries, trees.Entry{Mode: trees.ModeTree, Name: name, Hash: tree})
	}
}

// skip records a skipped path. Beyond MaxListed, paths are only counted, so that a record
// does not list a whole node_modules directory.
func (c *capture) skip(path string, size int64, reason string) {
	if c.skipped++; c.skipped <= MaxListed {
		c.snap.Facts.Skipped = append(c.snap.Facts.Skipped, checkpoint.Skipped{Path: path, Size: size, Reason: reason})
	}
}

func (c *capture) closeSkipped() {
	if more := c.skipped - MaxListed; more > 0 {
		c.snap.Facts.Skipped = append(c.snap.Facts.Skipped, checkpoint.Skipped{Path: ".", Reason: fmt.Sprintf("%d more", more)})
	}
}
