package objects

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// read returns the object at off. It walks down the chain of deltas to an
// object that is whole or cached, then up again, one delta at a time.
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

// delta is one step on the way from an object to the base of its bases.
type delta struct {
	off int64
	entry
}

// descend appends the deltas below the last one of chain, down to the object
// that they start from.
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

// ascend applies the deltas of chain to content, the last one first.
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
