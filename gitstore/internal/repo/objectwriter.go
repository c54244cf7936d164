package repo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// An ObjectWriter collects an operation's objects and writes them together. It can read
// added objects before they are stored.
type ObjectWriter struct {
	store   *Repo
	batch   *odb.Batch
	message string      // reflog message of the moves
	Records bool        // Recorder records the moves
	moves   []refs.Move // refs that Move has moved to the objects
}

func (s *Repo) NewObjectWriter() *ObjectWriter {
	return &ObjectWriter{store: s, batch: s.Objects.NewBatch()}
}

// Add adds an object and returns its id.
func (k *ObjectWriter) Add(kind plumbing.ObjectType, data []byte) plumbing.Hash {
	return k.batch.Add(kind, data)
}

// Read returns an added or stored object.
func (k *ObjectWriter) Read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if kind, data, added := k.batch.Find(h); added {
		return kind, data, nil
	}
	return k.store.Objects.Read(h)
}

// Header returns type and size of an added or stored object.
func (k *ObjectWriter) Header(h plumbing.Hash) (plumbing.ObjectType, int64, error) {
	if kind, data, added := k.batch.Find(h); added {
		return kind, int64(len(data)), nil
	}
	return k.store.Objects.Header(h)
}

// Added reports whether an object was added.
func (k *ObjectWriter) Added(h plumbing.Hash) bool {
	_, _, added := k.batch.Find(h)
	return added
}

// Has reports whether an object was added or is stored.
func (k *ObjectWriter) Has(h plumbing.Hash) bool { return k.Added(h) || k.store.Objects.Has(h) }

// Keep registers an object that another process wrote and that the checkpoint needs. It
// must be as durable as the added objects.
func (k *ObjectWriter) Keep(hash plumbing.Hash) { k.batch.Keep(hash) }

// IsEmpty reports whether nothing was added or registered.
func (k *ObjectWriter) IsEmpty() bool { return k.batch.IsEmpty() }

// Lacking returns a writer with the added objects that are not stored.
func (k *ObjectWriter) Lacking() *ObjectWriter {
	lacking := k.store.NewObjectWriter()
	for _, h := range k.batch.Missing() {
		if kind, data, added := k.batch.Find(h); added {
			lacking.Add(kind, data)
		}
	}
	return lacking
}

func (k *ObjectWriter) AddTree(entries []trees.Entry) plumbing.Hash {
	return k.Add(plumbing.TreeObject, trees.Encode(entries))
}

func (k *ObjectWriter) AddCommit(c RawCommit) plumbing.Hash {
	return k.Add(plumbing.CommitObject, c.Encode())
}

// packAbove is the number of new objects above which one pack is cheaper than loose objects.
const packAbove = 200

// Flush writes all added objects durably.
func (k *ObjectWriter) Flush(ctx context.Context) error {
	defer trace.Begin(trace.Step, "write objects").End()
	return k.batch.Install(ctx, packAbove)
}

// FlushTo writes all added objects below another directory of objects.
func (k *ObjectWriter) FlushTo(ctx context.Context, dir string) error {
	other, err := odb.Open(odb.Config{Dir: dir, Git: k.store.Git})
	if err != nil {
		return err
	}
	defer other.Close()
	batch := other.NewBatch()
	k.batch.AddTo(batch)
	return batch.Install(ctx, packAbove)
}

// copyFromGC writes a copy of new objects in a new pack, if a git gc runs that could prune without a
// grace period. Such a gc deletes objects that were unreachable when it listed the refs, but no pack
// that is newer than its list of packs.
func (k *ObjectWriter) copyFromGC(ctx context.Context) error {
	if !k.store.GCRuns() {
		return nil
	}
	k.batch.AddKept()
	if err := k.batch.FlushPack(ctx); err != nil {
		return fmt.Errorf("copy new objects beside a running gc: %w", err)
	}
	return nil
}

// Protect ensures that the objects behind a moved ref exist. If a gc has ended that
// deleted objects, Protect writes them again. If a gc is running, Protect writes a second copy: the
// gc may have listed the first copy, and the refs before the move. It fails with *DoneError.
//
// If a gc has deleted an object that another process wrote, for example a blob of git add
// that is not staged any more, Protect moves the refs back and fails with ErrObjectsGone.
func (k *ObjectWriter) Protect(ctx context.Context) error {
	if k.store.together != nil {
		return nil // the refs have not moved yet
	}
	err := k.protectFromGC(ctx)
	if err == nil {
		return nil
	}
	if k.isForeignGone() {
		if back := k.store.takeBack(context.WithoutCancel(ctx), k); back == nil {
			return k.gone(err)
		}
	}
	return &failure.DoneError{Err: err}
}

func (k *ObjectWriter) protectFromGC(ctx context.Context) (err error) {
	k.store.pause("moved")
	err = k.copyFromGC(ctx)
	for tries := 0; err == nil && len(k.batch.Missing()) > 0; tries++ {
		if tries == Collections {
			return fmt.Errorf("write objects again: %w %d times", errVanished, tries)
		}
		err = k.batch.FlushPack(ctx)
	}
	if err != nil {
		return fmt.Errorf("write objects again that a gc removed: %w", err)
	}
	return nil
}

// isForeignGone reports whether an object of another process is missing.
func (k *ObjectWriter) isForeignGone() bool {
	return slices.ContainsFunc(k.batch.Missing(), func(h plumbing.Hash) bool { return !k.Added(h) })
}

// gone returns ErrObjectsGone with its cause if an object of another process is missing, else
// the error itself. The object may exist again, because a third process has written it meanwhile.
func (k *ObjectWriter) gone(err error) error {
	if err == nil || errors.Is(err, ErrObjectsGone) || !errors.Is(err, odb.ErrKeptGone) && !k.isForeignGone() {
		return err
	}
	return fmt.Errorf("%w: %w", ErrObjectsGone, err)
}

var errVanished = errors.New("a gc removed it")

// lockAge is the age from which git ignores gc.pid.
const lockAge = 12 * time.Hour

// GCRuns reports whether git gc holds its lock.
func (s *Repo) GCRuns() bool {
	return fsutil.IsYounger(filepath.Join(s.Info.CommonDir, "gc.pid"), lockAge)
}
