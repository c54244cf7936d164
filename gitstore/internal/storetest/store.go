package storetest

import (
	"context"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// A Subject is a handle on a place where checkpoints are kept, as *gitstore.Store
// is; the methods promise what they do there. One goroutine uses a handle at a
// time, and several handles may be used at once.
type Subject interface {
	Saver
	RecordReader
	Keeper
}

// A Saver saves. Of a request it must heed Issue, Edit, Keep, Retention,
// IfChanged and DryRun.
type Saver interface {
	Save(ctx context.Context, req gitstore.SaveRequest) (*gitstore.Saved, error)
}

// A RecordReader reads checkpoints and their records.
type RecordReader interface {
	Issues(ctx context.Context, archived bool) (issues []checkpoint.Issue, strange []string, err error)
	List(ctx context.Context, i checkpoint.Issue, limit int) (*gitstore.List, error)
	Find(ctx context.Context, i checkpoint.Issue, name string) (*gitstore.Checkpoint, error)
	RecordBytes(c *gitstore.Checkpoint) ([]byte, error)
	VerifiedRecord(c *gitstore.Checkpoint) (*checkpoint.Record, error)
}

// A Keeper decides what stays. Of a request to prune it must heed Issue, Policy,
// DryRun and Plan, and one that archives MaxAge, Closed and Stay.
type Keeper interface {
	Pin(ctx context.Context, i checkpoint.Issue, id checkpoint.ID, on bool) (bool, error)
	Drop(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) error
	Prune(ctx context.Context, req gitstore.PruneRequest) (*gitstore.Pruned, error)
}

// An Archiver is a Subject that has an archive.
type Archiver interface {
	Archive(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID, why retention.Reason) ([]checkpoint.ID, error)
	Archived(ctx context.Context, i checkpoint.Issue, limit int) (*gitstore.List, error)
}

// An Undoer is a Subject that can take back what it removed.
type Undoer interface {
	Undo(ctx context.Context, i checkpoint.Issue) (*gitstore.Undone, error)
}

// A Purger is a Subject that can forget what it removed.
type Purger interface {
	Purge(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) ([]string, error)
}

// A Verifier is a Subject that can look at itself. It is asked after every
// promise, and must find nothing.
type Verifier interface {
	Verify(ctx context.Context, i checkpoint.Issue) (*gitstore.Report, error)
}
