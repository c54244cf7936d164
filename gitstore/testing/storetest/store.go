package storetest

import (
	"context"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// A Subject is a store handle, such as *gitstore.Store. Methods follow the contract of
// gitstore.Store. A handle does not support concurrent calls, but different handles do.
type Subject interface {
	Saver
	RecordReader
	Keeper
	Archiver

	// Verify checks the store. Each promise ends with Verify, which must report no errors.
	Verify(ctx context.Context, i checkpoint.Issue) (*gitstore.Report, error)
}

// A Saver saves checkpoints. It must support the request fields Issue, Edit, Keep,
// Retention, IfChanged and DryRun.
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

// A Keeper pins, drops and prunes checkpoints. It must support the request fields Issue,
// Policy, DryRun, Plan, MaxAge, Closed and Stay.
type Keeper interface {
	Pin(ctx context.Context, i checkpoint.Issue, id checkpoint.ID, on bool) (bool, error)
	Drop(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) error
	Prune(ctx context.Context, req gitstore.PruneRequest) (*gitstore.Pruned, error)
}

// An Archiver archives checkpoints.
type Archiver interface {
	Archive(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID, why retention.Reason) ([]checkpoint.ID, error)
	Archived(ctx context.Context, i checkpoint.Issue, limit int) (*gitstore.List, error)
}

// An Undoer is a Subject with an undo of operations.
type Undoer interface {
	Revert(ctx context.Context, way gitstore.Way, which gitstore.Which, shown *gitstore.Undone) (*gitstore.Undone, error)
}

// A Purger is a Subject that can delete removed checkpoints permanently.
type Purger interface {
	Purge(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) ([]string, error)
}
