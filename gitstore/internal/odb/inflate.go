package odb

import (
	"errors"
	"sync"

	"git-checkpoint/gitstore/internal/odb/inflate"
)

// firstPiece limits the memory that is allocated for an object before any byte is
// inflated, because the header may claim a false size.
const firstPiece = 1 << 20

// scratch is a pool of buffers for temporary data.
var scratch = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

// inflateExact returns the content of a stream and fails if its length is not size. It
// uses the capacity of dst first and allocates more as bytes arrive.
func inflateExact(dst, src []byte, size int64) (content []byte, used int, err error) {
	if size < 0 || size > maxObject {
		return nil, 0, ErrTooLarge
	}
	content, used, err = inflate.Zlib(dst, src, int(size))
	if err != nil {
		return nil, 0, errFormat(err.Error())
	}
	if int64(len(content)) != size {
		return nil, 0, formatError("object has %d bytes, not %d", len(content), size)
	}
	return content, used, nil
}

// inflateStart returns the first bytes of a stream, at most cap(dst). whole reports
// whether the stream ended.
func inflateStart(dst, src []byte) (out []byte, used int, whole bool, err error) {
	out, used, err = inflate.Zlib(dst[:0], src, cap(dst))
	switch {
	case err == nil:
		return out, used, true, nil
	case errors.Is(err, inflate.ErrMore):
		return out, used, false, nil
	}
	return out, used, false, errFormat(err.Error())
}
