package objects

import (
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	cacheBytes = 16 << 20 // in all
	cacheOne   = 1 << 20  // the largest object that is kept
	cacheEntry = 200      // what keeping one costs beside its content
)

// baseCache keeps objects that are bases of deltas, so that reading a history
// does not rebuild the same chain for every commit. The oldest one goes first.
// The zero value is an empty cache.
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

// get returns a cached object, whose content must not be changed.
func (c *baseCache) get(p *pack, off int64) (plumbing.ObjectType, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.m[cacheKey{p, off}]
	return o.kind, o.content, ok
}

// put keeps an object, whose content must not change from here on.
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

// shrink drops the older half when the cache is full: order is then copied
// once for many objects.
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
