package odb

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/odb/inflate"

	"github.com/go-git/go-git/v5/plumbing"
)

// looseHead is the maximum length of a loose object header: type, space, size, NUL.
const looseHead = 32

func (s *source) loosePath(h plumbing.Hash) string { return filepath.Join(s.dir, looseName(h)) }

// looseName returns the path of a loose object relative to the objects directory.
func looseName(h plumbing.Hash) string {
	var b [2*objectformat.Size + 1]byte
	hex.Encode(b[:], h[:1])
	b[2] = filepath.Separator
	hex.Encode(b[3:], h[1:])
	return string(b[:])
}

func readLoose(path string) (t plumbing.ObjectType, content []byte, err error) {
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	raw, err := slurp(path, *buf)
	if err != nil {
		return 0, nil, err
	}
	t, content, err = parseLoose(raw)
	return t, content, withPath(path, err)
}

// headLoose returns type and size from the header of a loose object.
func headLoose(path string) (t plumbing.ObjectType, size int64, err error) {
	f, err := fsutil.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	var raw [4096]byte
	n, err := io.ReadFull(f, raw[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, 0, err
	}
	t, size, err = parseLooseHead(raw[:n])
	return t, size, withPath(path, err)
}

// statLoose fails if the file is missing or empty.
func statLoose(path string) error {
	info, err := os.Stat(path)
	if err == nil && (info.Size() == 0 || !info.Mode().IsRegular()) {
		err = &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return err
}

// parseLoose decompresses raw and parses "<type> <size> NUL <content>".
func parseLoose(raw []byte) (plumbing.ObjectType, []byte, error) {
	room := scratch.Get().(*[]byte)
	defer scratch.Put(room)
	out, used, whole, err := inflateStart(*room, raw)
	if err != nil {
		return 0, nil, err
	}
	t, size, content, err := parseHead(out)
	if err != nil {
		return 0, nil, err
	}
	if size > mostOf(t) {
		return 0, nil, ErrTooLarge
	}
	if whole {
		content = bytes.Clone(content)
	} else if content, used, err = inflateLarge(raw, size, len(out)-len(content)); err != nil {
		return 0, nil, err
	}
	if int64(len(content)) != size {
		return 0, nil, formatError("object has %d bytes, not %d", len(content), size)
	}
	if used != len(raw) {
		return 0, nil, formatError("garbage behind the object")
	}
	return t, content, nil
}

// inflateLarge inflates an object that exceeds a pool buffer.
func inflateLarge(raw []byte, size int64, head int) ([]byte, int, error) {
	size += int64(head)
	b, used, err := inflateExact(make([]byte, 0, min(size, firstPiece)), raw, size)
	if err != nil {
		return nil, 0, err
	}
	return b[head:], used, nil
}

func parseLooseHead(raw []byte) (plumbing.ObjectType, int64, error) {
	var room [looseHead]byte
	out, _, _, err := inflateStart(room[:0], raw)
	if err != nil {
		return 0, 0, err
	}
	t, size, _, err := parseHead(out)
	return t, size, err
}

func parseHead(b []byte) (plumbing.ObjectType, int64, []byte, error) {
	head, rest, ok := bytes.Cut(b, []byte{0})
	name, number, ok2 := bytes.Cut(head, []byte{' '})
	if !ok || !ok2 {
		return 0, 0, nil, formatError("object has no header")
	}
	t, err := plumbing.ParseObjectType(string(name))
	if err != nil || t > plumbing.TagObject {
		return 0, 0, nil, formatError("object has the unknown type %q", name)
	}
	size, err := strconv.ParseUint(string(number), 10, 62)
	if err != nil || number[0] == '0' && len(number) > 1 {
		return 0, 0, nil, formatError("object has the size %q", number)
	}
	return t, int64(size), rest, nil
}

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
