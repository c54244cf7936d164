package odb

import (
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	cacheBytes = 16 << 20 // limit for all objects
	cacheOne   = 1 << 20  // largest cached object
	cacheEntry = 200      // memory of an entry beside its content
)

// A baseCache caches objects that are delta bases, so that reading a history does not
// rebuild the same delta chain for each commit. It evicts the oldest entries first. The
// zero value is an empty cache.
type baseCache struct {
	mu    sync.Mutex
	m     map[cacheKey]cached
	order []cacheKey
	bytes int
}

type cacheKey struct {
	pack *pack
	off  int64
}

type cached struct {
	kind    plumbing.ObjectType
	content []byte
}

// get returns a cached object. The caller must not change its content.
func (c *baseCache) get(p *pack, off int64) (plumbing.ObjectType, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.m[cacheKey{p, off}]
	return o.kind, o.content, ok
}

// put caches an object. The caller must not change content afterwards.
func (c *baseCache) put(p *pack, off int64, kind plumbing.ObjectType, content []byte) {
	if len(content) > cacheOne {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey{p, off}
	if _, ok := c.m[key]; ok {
		return
	}
	if c.m == nil {
		c.m = make(map[cacheKey]cached)
	}
	c.m[key] = cached{kind, content}
	c.order = append(c.order, key)
	c.bytes += len(content) + cacheEntry
	c.shrink()
}

// shrink evicts the older half if the cache is full. Evicting many objects at once saves
// copies of order.
func (c *baseCache) shrink() {
	if c.bytes <= cacheBytes {
		return
	}
	n := 0
	for ; n < len(c.order) && c.bytes > cacheBytes/2; n++ {
		c.bytes -= len(c.m[c.order[n]].content) + cacheEntry
		delete(c.m, c.order[n])
	}
	c.order = slices.Clone(c.order[n:])
}
