package odb

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// A Batch collects objects in memory until Install writes them together.
type Batch struct {
	store *Database

	objects []*added
	known   map[plumbing.Hash]*added // objects by hash
	kept    []plumbing.Hash
	keeps   map[plumbing.Hash]bool // hashes of kept
	others  []string               // see Sync
}

type added struct {
	hash    plumbing.Hash
	kind    plumbing.ObjectType
	content []byte
}

// NewBatch returns an empty batch.
func (s *Database) NewBatch() *Batch {
	return &Batch{store: s, known: map[plumbing.Hash]*added{}, keeps: map[plumbing.Hash]bool{}}
}

// Add copies an object into the batch and returns its hash. Add writes no file, and reads
// of the database do not find the object before Install.
func (b *Batch) Add(t plumbing.ObjectType, content []byte) plumbing.Hash {
	h := plumbing.ComputeHash(t, content)
	if b.known[h] == nil {
		b.known[h] = &added{h, t, slices.Clone(content)}
		b.objects = append(b.objects, b.known[h])
	}
	return h
}

// Find returns an added object. The caller must not change the content.
func (b *Batch) Find(h plumbing.Hash) (t plumbing.ObjectType, content []byte, found bool) {
	if o := b.known[h]; o != nil {
		return o.kind, o.content, true
	}
	return 0, nil, false
}

// Keep adds an existing object to the batch. Install freshens the object, makes it durable
// like an added object, and fails if the object is missing. Git itself does not sync
// blobs that `git add` writes.
func (b *Batch) Keep(h plumbing.Hash) {
	if !b.keeps[h] {
		b.keeps[h] = true
		b.kept = append(b.kept, h)
	}
}

// AddKept adds copies of the kept objects that can be read.
func (b *Batch) AddKept() {
	for _, h := range b.kept {
		if t, content, err := b.store.Read(h); err == nil {
			b.Add(t, content)
		}
	}
}

// AddTo copies the added and kept objects of the batch to another batch.
func (b *Batch) AddTo(other *Batch) {
	for _, o := range b.objects {
		other.Add(o.kind, o.content)
	}
	for _, h := range b.kept {
		other.Keep(h)
	}
}

// IsEmpty reports whether the batch has neither added nor kept objects.
func (b *Batch) IsEmpty() bool { return len(b.objects)+len(b.kept) == 0 }

// Sync makes Install sync files and directories of other programs together with the objects. Files that
// were removed, or that this user cannot read, do not matter.
func (b *Batch) Sync(paths []string) { b.others = paths }

func (b *Batch) keptOnly() []plumbing.Hash {
	return slices.DeleteFunc(slices.Clone(b.kept), func(h plumbing.Hash) bool { return b.known[h] != nil })
}

// Missing returns the hashes of added and kept objects that the database does not contain
// now. It detects objects in packs that a concurrent gc has removed.
func (b *Batch) Missing() (missing []plumbing.Hash) {
	refresh := sync.OnceFunc(b.store.Close) // seldom: most objects are loose
	all := b.keptOnly()
	for _, o := range b.objects {
		all = append(all, o.hash)
	}
	for _, h := range all {
		if statLoose(b.store.loosePath(h)) == nil {
			continue
		}
		if refresh(); !b.store.Has(h) {
			missing = append(missing, h)
		}
	}
	return missing
}

// FlushPack writes all added objects as one new pack with git index-pack, which checks and syncs
// the pack. Unlike Install, FlushPack also writes objects that exist already, because a concurrent gc
// may have decided to delete their files. The gc may also have listed an earlier pack of the same
// objects. So FlushPack adds a blob of random text, and the new pack has a name of its own. If a kept
// object is missing, FlushPack fails after it has written all others.
func (b *Batch) FlushPack(ctx context.Context) error {
	f := b.store.newFlush()
	write, keepErr := f.keep(b.keptOnly())
	err := cmp.Or(f.write(write), f.syncDirs())
	if err == nil && len(b.objects) > 0 {
		text := []byte(rand.Text())
		salt := &added{plumbing.ComputeHash(plumbing.BlobObject, text), plumbing.BlobObject, text}
		err = b.store.writePack(ctx, append(slices.Clone(b.objects), salt))
	}
	return cmp.Or(err, keepErr)
}

// writePack writes objects as one pack with git index-pack. A concurrent `git gc --prune=now`
// may delete files that git is writing or comparing; writePack then retries.
func (s *Database) writePack(ctx context.Context, objects []*added) error {
	source, hashes := packSource{objects: map[plumbing.Hash]*added{}}, make([]plumbing.Hash, len(objects))
	for i, o := range objects {
		source.objects[o.hash], hashes[i] = o, o.hash
	}
	var pack bytes.Buffer
	_, err := packfile.NewEncoder(&pack, source, false).Encode(hashes, 0)
	args := []string{"-c", "core.fsync=pack,pack-metadata", "index-pack", "--stdin"}
	isTaken := func(err error) bool { // by git's messages in the C locale
		return strings.Contains(err.Error(), "No such file or directory") || strings.Contains(err.Error(), "cannot read existing object")
	}
	if err == nil {
		_, err = s.cfg.Git.Pipe(ctx, pack.Bytes(), args...)
		for tries := 0; err != nil && tries < collections && isTaken(err); tries++ {
			_, err = s.cfg.Git.Pipe(ctx, pack.Bytes(), args...)
		}
	}
	if err != nil {
		return fmt.Errorf("write pack of %d objects: %w", len(objects), err)
	}
	// Git syncs the files but not their names.
	for _, dir := range []string{filepath.Join(s.cfg.Dir, "pack"), s.cfg.Dir} {
		if err := fsutil.SyncDir(dir); err != nil {
			return fmt.Errorf("sync directory: %w", err)
		}
	}
	return nil
}

// A packSource returns the objects of a pack to the encoder of go-git, which calls only EncodedObject.
type packSource struct {
	storer.EncodedObjectStorer
	objects map[plumbing.Hash]*added
}

func (p packSource) EncodedObject(_ plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	o := &plumbing.MemoryObject{}
	o.SetType(p.objects[h].kind)
	_, err := o.Write(p.objects[h].content)
	return o, err
}
