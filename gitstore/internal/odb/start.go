package odb

import (
	"io"
	"os"
	"slices"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxStart is the maximum number of bytes that Start reads of an object or a delta base.
const maxStart = 4 << 10

// Start returns the type of an object and its first n bytes, at most maxStart. The object may
// have any size, because Start decompresses only these bytes.
func (s *Database) Start(h plumbing.Hash, n int) (t plumbing.ObjectType, content []byte, err error) {
	err = s.lookup(h, func(f found) (err error) {
		t, content, err = f.start(min(n, maxStart))
		return err
	})
	return t, content, err
}

func (f found) start(n int) (t plumbing.ObjectType, content []byte, err error) {
	if f.pack == nil {
		return startLoose(f.src.loosePath(f.hash), n)
	}
	err = f.inPack(func(r packReader) (err error) {
		t, content, err = r.start(f.off, n)
		return err
	})
	return t, content, err
}

// startLoose returns the result of Start for a loose object.
func startLoose(path string, n int) (plumbing.ObjectType, []byte, error) {
	f, err := fsutil.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	raw := make([]byte, 2*maxStart)
	read, err := io.ReadFull(f, raw)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, nil, err
	}
	out, _, _, err := inflateStart(make([]byte, 0, looseHead+n), raw[:read])
	if err != nil {
		return 0, nil, withPath(path, err)
	}
	t, _, content, err := parseHead(out)
	return t, clip(content, int64(n)), withPath(path, err)
}

// start returns the result of Start for the object at off. It reads only the part of each
// delta and base that makes the first n bytes.
func (p packReader) start(off int64, n int) (plumbing.ObjectType, []byte, error) {
	var chain [][]op
	for len(chain) <= maxDepth {
		e, err := p.entryAt(off)
		if err != nil {
			return 0, nil, err
		}
		if !isDelta(e.kind) {
			content, _, _, err := inflateStart(make([]byte, 0, max(n, 1)), e.data)
			if err != nil {
				return 0, nil, err
			}
			content, err = applyOps(chain, clip(content, int64(n)))
			return e.kind, content, err
		}
		// An instruction has at most 8 bytes without inserted bytes.
		head, _, _, err := inflateStart(make([]byte, 0, 20+8*n+127), e.data)
		if err != nil {
			return 0, nil, err
		}
		var ops []op
		if ops, n, err = firstOps(head, n); err != nil {
			return 0, nil, err
		}
		chain = append(chain, ops)
		if off, err = p.baseOf(e, off); err != nil {
			return 0, nil, err
		}
	}
	return 0, nil, formatError("chain of deltas at %d is too long", off)
}

// firstOps returns the instructions of a delta that make the first n bytes of its result. The
// instructions need the first need bytes of the base.
func firstOps(delta []byte, n int) (ops []op, need int, err error) {
	_, _, code, err := deltaSizes(delta)
	for err == nil && n > 0 && len(code) > 0 {
		o, rest, ok := nextOp(code)
		if !ok {
			return nil, 0, formatError("instruction in a delta is damaged")
		}
		o.size = min(o.size, int64(n))
		switch {
		case o.insert != nil:
			o.insert = o.insert[:o.size]
		case o.off+o.size > maxStart:
			return nil, 0, ErrTooLarge
		default:
			need = max(need, int(o.off+o.size))
		}
		ops, code, n = append(ops, o), rest, n-int(o.size)
	}
	return ops, need, err
}

// applyOps applies the instructions of a delta chain to the start of its base, the last
// instructions first.
func applyOps(chain [][]op, content []byte) ([]byte, error) {
	for _, ops := range slices.Backward(chain) {
		var out []byte
		for _, o := range ops {
			switch {
			case o.insert != nil:
				out = append(out, o.insert...)
			case o.off+o.size > int64(len(content)):
				return nil, formatError("delta copies from behind its base")
			default:
				out = append(out, content[o.off:o.off+o.size]...)
			}
		}
		content = out
	}
	return content, nil
}
