package objects

import (
	"crypto/sha1"
	"slices"
	"strconv"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// Batch holds the objects of one save until they are written together. It is
// safe for concurrent use.
type Batch struct {
	store *Database

	mu      sync.Mutex
	objects []*added
	known   map[plumbing.Hash]bool // of objects
	kept    []plumbing.Hash
	others  []string               // see Sync
	keeps   map[plumbing.Hash]bool // of kept
}

// added is one object of a batch.
type added struct {
	hash    plumbing.Hash
	kind    plumbing.ObjectType
	content []byte
}

// NewBatch returns an empty batch.
func (s *Database) NewBatch() *Batch {
	return &Batch{store: s, known: make(map[plumbing.Hash]bool), keeps: make(map[plumbing.Hash]bool)}
}

// Add remembers an object and returns its hash. The content is copied.
// Nothing is written, and readers of the store do not see it, before Flush.
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

// Keep remembers an object that is in the store already and must last: Flush
// freshens it and makes it durable as if it had been added, and fails when it
// is not there. Git itself does not sync the blobs of `git add` to the disk.
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

// Hashes returns the added objects, each once, in the order of Add.
func (b *Batch) Hashes() []plumbing.Hash {
	b.mu.Lock()
	defer b.mu.Unlock()
	hashes := make([]plumbing.Hash, len(b.objects))
	for i, o := range b.objects {
		hashes[i] = o.hash
	}
	return hashes
}

// Missing returns which of the added and kept objects are not in the store
// now. It looks at the files anew, whatever the store knew before, so it finds
// what a gc has taken away meanwhile.
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

// Name is the name of an object that was composed by this program, or is named
// by its hash already, so that plain SHA-1 will do.
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
