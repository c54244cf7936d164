package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/objects"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// An objectWriter collects the objects of one operation and writes them together. It
// reads back what was added before that is stored.
type objectWriter struct {
	store   *Store
	batch   *objects.Batch
	added   map[plumbing.Hash]object
	outside []plumbing.Hash // what the checkpoint needs and others wrote
	reached []plumbing.Hash // commits of others, see reach
	blobs   []plumbing.Hash // and blobs
	kept    bool            // in a pack that was kept while the ref moved
	release func()          // ends that, nil where nothing is kept

	progress func(done, total int) // of what is rewritten, nil for nobody
}

type object struct {
	kind plumbing.ObjectType
	data []byte
}

func (s *Store) newObjectWriter() *objectWriter {
	return &objectWriter{store: s, batch: s.objects.NewBatch(), added: map[plumbing.Hash]object{}}
}

// Add takes an object to be stored.
func (k *objectWriter) Add(kind plumbing.ObjectType, data []byte) plumbing.Hash {
	hash := k.batch.Add(kind, data)
	k.added[hash] = object{kind, data}
	return hash
}

// Read returns an object that was added or is stored.
func (k *objectWriter) Read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if o, ok := k.added[h]; ok {
		return o.kind, o.data, nil
	}
	return k.store.objects.Read(h)
}

// Header is the kind and the size of an object that was added or is stored.
func (k *objectWriter) Header(h plumbing.Hash) (plumbing.ObjectType, int64, error) {
	if o, ok := k.added[h]; ok {
		return o.kind, int64(len(o.data)), nil
	}
	return k.store.objects.Header(h)
}

// Has reports whether an object was added or is stored.
func (k *objectWriter) Has(h plumbing.Hash) bool {
	_, ok := k.added[h]
	return ok || k.store.objects.Has(h)
}

// Keep takes note of an object that others wrote: the checkpoint needs it, so
// it has to last as its own objects do.
func (k *objectWriter) Keep(hash plumbing.Hash) {
	k.outside = append(k.outside, hash)
	k.batch.Keep(hash)
}

func (k *objectWriter) addTree(entries []trees.Entry) plumbing.Hash {
	return k.Add(plumbing.TreeObject, trees.Encode(entries))
}

func (k *objectWriter) addCommit(c rawCommit) plumbing.Hash {
	return k.Add(plumbing.CommitObject, c.encode())
}

// packAbove is the number of objects above which one pack is cheaper than
// files of their own.
const packAbove = 200

// Flush makes everything that was added durable.
func (k *objectWriter) Flush(ctx context.Context) error {
	fsync, err := k.install(ctx)
	if err != nil {
		return err
	}
	return fsync()
}

// install stores everything that was added; fsync makes it durable. The files
// beside the objects have durable contents when the objects have.
func (k *objectWriter) install(ctx context.Context, beside ...*os.File) (fsync func() error, err error) {
	if k.batch.Len() > packAbove {
		return func() error { return syncFiles(beside) }, k.batch.FlushPack(ctx)
	}
	return k.batch.Install(beside...)
}

// A gc that prunes everything deletes what no ref pointed to when it looked.
// While one runs, which its lock shows, what a ref is about to point to goes
// into a pack that is kept until the ref has moved: a gc that looks after that
// finds it in use, and one that looked before does not delete it.
//
// The pack is kept until the last try has ended. A further try would make the
// same pack again. A gc that counts the packs between the two and takes the kept
// ones for the keepers of what they hold after them would leave that out of its
// own pack, and remove this one.
func (k *objectWriter) keepFromGC(ctx context.Context, by string) (err error) {
	if k.release != nil {
		return nil
	}
	if k.kept = k.store.gcRuns(); !k.kept {
		return nil
	}
	k.store.objects.ReleaseKept(by) // the issue is locked, so no other process can
	k.copyForeign()
	k.release, err = k.batch.FlushKept(ctx, by)
	if err != nil {
		return fmt.Errorf("keep new objects from a running gc: %w", err)
	}
	return nil
}

// releaseKeptPack releases the pack of keepFromGC.
func (k *objectWriter) releaseKeptPack() {
	if k.release != nil {
		k.release()
		k.release = nil
	}
}

// protect makes sure that what a ref now points to is there: what a gc took
// that began meanwhile, and has ended, is written again, and while it runs
// there is a copy that it does not know. It fails with *DoneError.
func (k *objectWriter) protect(ctx context.Context) error { return afterMove(k.protectFromGC(ctx)) }

func (k *objectWriter) protectFromGC(ctx context.Context) error {
	if !k.kept && k.store.gcRuns() {
		k.copyForeign()
		if err := k.batch.FlushPack(ctx); err != nil {
			return fmt.Errorf("keep new objects from a running gc: %w", err)
		}
		return nil
	}
	if len(k.batch.Missing()) == 0 {
		return nil
	}
	if err := k.batch.FlushPack(ctx); err != nil {
		return fmt.Errorf("write objects again that a gc removed: %w", err)
	}
	for _, hash := range k.outside {
		if !k.store.objects.Has(hash) {
			return corrupt("object "+hash.String(), "it was removed while the checkpoint was saved")
		}
	}
	return nil
}

// copyForeign adds copies of objects that others wrote, so that they are in the pack
// too.
func (k *objectWriter) copyForeign() {
	for _, hash := range k.outside {
		if kind, data, err := k.store.objects.Read(hash); err == nil {
			k.batch.Add(kind, data)
		}
	}
}

// gcRuns reports whether git gc holds its lock. Git takes no notice of one
// that is older than half a day.
func (s *Store) gcRuns() bool {
	info, err := os.Lstat(filepath.Join(s.repo.CommonDir, "gc.pid"))
	return err == nil && time.Since(info.ModTime()) < 12*time.Hour
}
