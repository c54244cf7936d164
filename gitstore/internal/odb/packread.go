package odb

import (
	"slices"
	"sync"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxDepth is the maximum length of a delta chain. Git's limit is 4,095.
const maxDepth = 4096

// A packReader reads objects from an open pack.
type packReader struct {
	key  *pack // identifies the pack in the cache
	idx  *idx
	file *region
}

// entryAt returns the entry at off, without the trailer of the pack.
func (p packReader) entryAt(off int64) (entry, error) {
	end := p.file.size - objectformat.Size
	if off < packHeader || off >= end {
		return entry{}, formatError("offset %d is outside of the pack", off)
	}
	b, err := p.file.at(off, entryHeader)
	if err != nil {
		return entry{}, err
	}
	e, err := parseEntry(clip(b, end-off))
	if err != nil || p.file.data != nil {
		return e, err
	}
	if e.size > maxObject {
		return e, ErrTooLarge
	}
	// If the file is not mapped, read the compressed bytes now that the size is known.
	// zlib output exceeds its input by less than this margin.
	head := int64(len(b) - len(e.data))
	want := head + e.size + e.size>>10 + 64
	if b, err = p.file.at(off, min(want, end-off)); err != nil {
		return entry{}, err
	}
	return parseEntry(b)
}

func clip(b []byte, n int64) []byte {
	if int64(len(b)) > n {
		return b[:n]
	}
	return b
}

// baseOf returns the offset of the base of a delta at off.
func (p packReader) baseOf(e entry, off int64) (int64, error) {
	if e.kind == plumbing.OFSDeltaObject {
		if e.back <= 0 || e.back > off-packHeader {
			return 0, formatError("delta at %d has its base outside of the pack", off)
		}
		return off - e.back, nil
	}
	base, ok, err := p.idx.find(e.base)
	if err == nil && !ok {
		err = formatError("delta at %d: base %s is not in the pack", off, e.base)
	}
	return base, err
}

func isDelta(t plumbing.ObjectType) bool {
	return t == plumbing.OFSDeltaObject || t == plumbing.REFDeltaObject
}

// header returns type and size of the object at off.
func (p packReader) header(off int64) (plumbing.ObjectType, int64, error) {
	e, err := p.entryAt(off)
	if err != nil {
		return 0, 0, err
	}
	size := e.size
	if isDelta(e.kind) { // the header of a delta has the size
		var room [20]byte
		head, _, _, err := inflateStart(room[:0], e.data)
		if err != nil {
			return 0, 0, err
		}
		if _, size, _, err = deltaSizes(head); err != nil {
			return 0, 0, err
		}
	}
	for depth := 0; isDelta(e.kind); depth++ {
		if depth > maxDepth {
			return 0, 0, formatError("chain of deltas at %d is too long", off)
		}
		if off, err = p.baseOf(e, off); err != nil {
			return 0, 0, err
		}
		if e, err = p.entryAt(off); err != nil {
			return 0, 0, err
		}
	}
	return e.kind, size, nil
}

// inflate returns the inflated object or delta.
func (e entry) inflate() ([]byte, error) {
	if e.size > mostOf(e.kind) {
		return nil, ErrTooLarge
	}
	return e.inflateTo(make([]byte, 0, min(e.size, firstPiece)))
}

// inflateTo inflates the entry into dst if its capacity suffices.
func (e entry) inflateTo(dst []byte) ([]byte, error) {
	content, _, err := inflateExact(dst, e.data, e.size)
	return content, err
}

// read returns the object at offset off. It follows the delta chain to a whole or cached
// object, then applies the deltas in reverse order.
func (p packReader) read(off int64, c *baseCache) (plumbing.ObjectType, []byte, error) {
	if kind, content, ok := c.get(p.key, off); ok {
		return kind, slices.Clone(content), nil
	}
	e, err := p.entryAt(off)
	if err != nil {
		return 0, nil, err
	}
	if !isDelta(e.kind) {
		content, err := e.inflate()
		return e.kind, content, err
	}
	var room [64]delta
	chain, kind, content, err := p.descend(append(room[:0], delta{off, e}), c)
	if err != nil {
		return 0, nil, err
	}
	content, err = p.ascend(chain, kind, content, c)
	return kind, slices.Clone(content), err
}

// A delta is an entry of a delta chain with its offset.
type delta struct {
	off int64
	entry
}

// descend appends the bases of the last delta in chain until it reaches a whole or cached
// object. It returns that object's type and content.
func (p packReader) descend(chain []delta, c *baseCache) ([]delta, plumbing.ObjectType, []byte, error) {
	for len(chain) <= maxDepth {
		last := chain[len(chain)-1]
		off, err := p.baseOf(last.entry, last.off)
		if err != nil {
			return nil, 0, nil, err
		}
		if kind, content, ok := c.get(p.key, off); ok {
			return chain, kind, content, nil
		}
		e, err := p.entryAt(off)
		if err != nil {
			return nil, 0, nil, err
		}
		if !isDelta(e.kind) {
			content, err := e.inflate()
			if err == nil {
				c.put(p.key, off, e.kind, content)
			}
			return chain, e.kind, content, err
		}
		chain = append(chain, delta{off, e})
	}
	return nil, 0, nil, formatError("chain of deltas at %d is too long", chain[0].off)
}

// ascend applies the deltas of chain to content, the last delta first.
func (p packReader) ascend(chain []delta, kind plumbing.ObjectType, content []byte, c *baseCache) ([]byte, error) {
	room := scratch.Get().(*[]byte)
	defer scratch.Put(room)
	for _, d := range slices.Backward(chain) {
		code, err := d.inflateTo((*room)[:0])
		if err != nil {
			return nil, err
		}
		if content, err = applyDelta(content, code, mostOf(kind)); err != nil {
			return nil, err
		}
		c.put(p.key, d.off, kind, content)
	}
	return content, nil
}

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
	if c.bytes <= cacheBytes {
		return
	}
	n := 0 // the older half goes at once, which saves copies of order
	for ; n < len(c.order) && c.bytes > cacheBytes/2; n++ {
		c.bytes -= len(c.m[c.order[n]].content) + cacheEntry
		delete(c.m, c.order[n])
	}
	c.order = slices.Clone(c.order[n:])
}
