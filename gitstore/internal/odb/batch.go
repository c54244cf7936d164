package odb

import (
	"crypto/sha1"
	"slices"
	"strconv"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Batch collects objects in memory until Flush writes them together. Concurrent use is
// safe.
type Batch struct {
	store *Database

	mu      sync.Mutex
	objects []*added
	known   map[plumbing.Hash]bool // hashes of objects
	kept    []plumbing.Hash
	others  []string               // paths to sync, see Sync
	keeps   map[plumbing.Hash]bool // hashes of kept
}

type added struct {
	hash    plumbing.Hash
	kind    plumbing.ObjectType
	content []byte
}

// NewBatch returns an empty batch.
func (s *Database) NewBatch() *Batch {
	return &Batch{store: s, known: make(map[plumbing.Hash]bool), keeps: make(map[plumbing.Hash]bool)}
}

// Add copies an object into the batch and returns its hash. Add writes no file, and reads
// of the database do not find the object before Flush.
func (b *Batch) Add(t plumbing.ObjectType, content []byte) plumbing.Hash {
	h := Name(t, content)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.known[h] {
		b.known[h] = true
		b.objects = append(b.objects, &added{h, t, slices.Clone(content)})
	}
	return h
}

// Keep adds an existing object to the batch. Flush freshens the object, makes it durable
// like an added object, and fails if the object is missing. Git itself does not sync
// blobs that `git add` writes.
func (b *Batch) Keep(h plumbing.Hash) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.keeps[h] {
		b.keeps[h] = true
		b.kept = append(b.kept, h)
	}
}

// Len returns the number of added objects.
func (b *Batch) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.objects)
}

// Hashes returns the hashes of added objects without duplicates, in the order of Add.
func (b *Batch) Hashes() []plumbing.Hash {
	b.mu.Lock()
	defer b.mu.Unlock()
	hashes := make([]plumbing.Hash, len(b.objects))
	for i, o := range b.objects {
		hashes[i] = o.hash
	}
	return hashes
}

// Missing returns the hashes of added and kept objects that the database does not contain
// now. It lists packs again first, to detect objects that a concurrent gc has removed.
func (b *Batch) Missing() []plumbing.Hash {
	b.store.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	var missing []plumbing.Hash
	for _, o := range b.objects {
		if !b.store.Has(o.hash) {
			missing = append(missing, o.hash)
		}
	}
	for _, h := range b.kept {
		if !b.known[h] && !b.store.Has(h) {
			missing = append(missing, h)
		}
	}
	return missing
}

// Name returns the hash of an object. It computes plain SHA-1 without collision
// detection: this program has composed the content, or the object is named by its hash
// already.
func Name(t plumbing.ObjectType, content []byte) (h plumbing.Hash) {
	sum := sha1.New()
	sum.Write(looseHeader(t, len(content)))
	sum.Write(content)
	sum.Sum(h[:0])
	return h
}

func looseHeader(t plumbing.ObjectType, size int) []byte {
	b := make([]byte, 0, looseHead)
	b = append(b, t.Bytes()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, 0)
}
