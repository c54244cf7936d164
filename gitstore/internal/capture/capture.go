package capture

import (
	"context"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/trees"
)

// A Source is the worktree that files are taken of, and what is known of its
// repository.
type Source struct {
	Git       git.Git           // of the repository
	Config    []git.ConfigEntry // git's configuration
	CommonDir string            // the repository's folder
	Root      string            // of the worktree
}

// A Request says what to take besides the staging area.
type Request struct {
	Worktree  bool     // unstaged changes of tracked files
	Untracked bool     // untracked files, never ignored ones
	Artifacts []string // these files, ignored ones too; relative to the root
	Kept      []string // and these, as far as they can be read
	MaxSize   int64    // of the snapshot's new blobs in bytes, 0 for no limit
	MaxFile   int64    // of one untracked file in bytes, 0 for DefaultMaxFile

	Budget time.Duration // for files that nobody named, 0 for no limit
	DryRun bool          // git must not store anything either
}

// DefaultMaxFile caps one untracked file, in bytes. What was named as an
// artifact, and what is tracked, has no cap of its own.
const DefaultMaxFile = 1 << 20

// A capture takes files of the worktree into a snapshot.
type capture struct {
	*Source
	ctx     context.Context
	k       Sink
	snap    *Snapshot
	room    int64 // bytes left below the size limit
	maxFile int64
	dry     bool        // git must not store anything either
	late    func() bool // whether the time budget is spent
	skipped int         // of all, also where the record's list is cut
}

// Take adds what stands outside the staging area, and names in snap.Facts what
// it leaves out. It fails for an artifact that cannot be taken. What was staged
// may be over the size limit: that is for the caller to see.
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

// spend bounds the time that is left for files that nobody named.
func (c *capture) spend(budget time.Duration) (done func()) {
	if budget <= 0 {
		return func() {}
	}
	whole := c.ctx
	ctx, cancel := context.WithTimeout(whole, budget)
	c.ctx, c.late = ctx, func() bool { return ctx.Err() != nil && whole.Err() == nil }
	return cancel
}

// failed reports whether an error is one. When time is up, files are missing:
// the record says so, and the checkpoint is better than none.
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

// skip names a path that is left out. Beyond MaxListed they are counted: a
// record is no place for all of node_modules.
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
