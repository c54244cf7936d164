package odb

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

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
