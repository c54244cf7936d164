package objects

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"sync"
)

// firstPiece bounds what is set aside for an object before any of its bytes
// have been seen: the size in a header is only a claim.
const firstPiece = 1 << 20

// inflater reads one zlib stream out of memory. A pool keeps them because the
// window and the tables of a new one cost more than a typical object.
type inflater struct {
	src bytes.Reader
	z   io.ReadCloser
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// inflate starts to read the stream at the beginning of src.
func inflate(src []byte) (*inflater, error) {
	i := inflaters.Get().(*inflater)
	i.src.Reset(src)
	var err error
	if i.z == nil {
		i.z, err = zlib.NewReader(&i.src)
	} else {
		err = i.z.(zlib.Resetter).Reset(&i.src, nil)
	}
	if err != nil {
		i.release()
		return nil, streamError(err)
	}
	return i, nil
}

func (i *inflater) release() {
	i.src.Reset(nil)
	inflaters.Put(i)
}

// fill reads exactly len(p) bytes.
func (i *inflater) fill(p []byte) error {
	if _, err := io.ReadFull(i.z, p); err != nil {
		return streamError(err)
	}
	return nil
}

// some reads up to len(p) bytes, fewer only where the stream ends.
func (i *inflater) some(p []byte) (int, error) {
	n, err := io.ReadFull(i.z, p)
	if err == nil || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) && i.ended() {
		return n, nil
	}
	return n, streamError(err)
}

// content reads size bytes behind those of head and expects the end of the
// stream after them. The buffer grows as the bytes arrive.
func (i *inflater) content(head []byte, size int64) ([]byte, error) {
	if size > maxObject {
		return nil, ErrTooLarge
	}
	if int64(len(head)) > size {
		return nil, formatError("content is longer than its %d bytes", size)
	}
	b := make([]byte, min(size, max(firstPiece, int64(len(head)))))
	done := copy(b, head)
	for {
		if err := i.fill(b[done:]); err != nil {
			return nil, err
		}
		done = len(b)
		if int64(done) == size {
			break
		}
		bigger := make([]byte, min(size, int64(done)*4))
		copy(bigger, b)
		b = bigger
	}
	if !i.ended() {
		return nil, formatError("content is longer than its %d bytes", size)
	}
	return b, nil
}

// ended reports whether the stream ends here and its checksum holds.
func (i *inflater) ended() bool {
	var one [1]byte
	n, err := i.z.Read(one[:])
	return n == 0 && err == io.EOF
}

// rest is the number of source bytes behind the part that was read.
func (i *inflater) rest() int { return i.src.Len() }

func streamError(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return formatError("compressed data is truncated")
	}
	return formatError("compressed data: %v", err)
}
