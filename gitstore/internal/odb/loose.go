package odb

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
)

// looseHead is the maximum length of a loose object's header: type, space, size, NUL.
const looseHead = 32

// loosePath returns the path of a loose object in the objects directory.
func (s *Database) loosePath(h plumbing.Hash) string { return loosePath(s.cfg.Dir, h) }

func loosePath(dir string, h plumbing.Hash) string {
	var b [2*objectformat.Size + 1]byte
	hex.Encode(b[:], h[:1])
	b[2] = filepath.Separator
	hex.Encode(b[3:], h[1:])
	return filepath.Join(dir, string(b[:]))
}

// A looseReader reads a loose object, zlib("<type> <size>" NUL content).
type looseReader struct {
	file *bufio.Reader
	zlib io.ReadCloser // nil before the first object
	out  *bufio.Reader
}

// looseReaders keeps buffers, because reading the small file of an object takes less time than
// allocating them.
var looseReaders = sync.Pool{New: func() any {
	return &looseReader{file: bufio.NewReader(nil), out: bufio.NewReader(nil)}
}}

// readLoose returns the object in a file.
func readLoose(path string) (t plumbing.ObjectType, content []byte, err error) {
	err = withLoose(path, func(l *looseReader) (err error) {
		var size int64
		if t, size, err = l.head(); err == nil {
			content, err = readContent(l.out, t, size)
		}
		if err == nil {
			err = l.end()
		}
		return err
	})
	return t, content, err
}

// headLoose returns the type and size of the object in a file.
func headLoose(path string) (t plumbing.ObjectType, size int64, err error) {
	err = withLoose(path, func(l *looseReader) (err error) {
		t, size, err = l.head()
		return err
	})
	return t, size, err
}

// withLoose opens a file for use. An empty file, which a crash can leave, counts as missing.
// withLoose returns an error about the content with the path of the file.
func withLoose(path string, use func(*looseReader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	l := looseReaders.Get().(*looseReader)
	defer looseReaders.Put(l)
	l.file.Reset(f)
	if _, err := l.file.Peek(1); err == io.EOF {
		return &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	if l.zlib == nil {
		l.zlib, err = zlib.NewReader(l.file)
	} else {
		err = l.zlib.(zlib.Resetter).Reset(l.file, nil)
	}
	if err == nil {
		l.out.Reset(l.zlib)
		err = use(l)
	}
	switch {
	case err == nil || errors.Is(err, ErrTooLarge) || errors.As(err, new(*fs.PathError)):
		return err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: corrupt: %w", path, err)
}

// head reads the header.
func (l *looseReader) head() (plumbing.ObjectType, int64, error) {
	head, err := l.out.Peek(looseHead)
	if err != nil && err != io.EOF {
		return 0, 0, err
	}
	head, _, isWhole := bytes.Cut(head, []byte{0})
	if !isWhole {
		return 0, 0, errors.New("object has no header")
	}
	name, number, _ := bytes.Cut(head, []byte{' '})
	t, err := plumbing.ParseObjectType(string(name))
	if err != nil || t > plumbing.TagObject {
		return 0, 0, fmt.Errorf("object has the unknown type %q", name)
	}
	size, err := strconv.ParseUint(string(number), 10, 62)
	if err != nil || number[0] == '0' && len(number) > 1 {
		return 0, 0, fmt.Errorf("object has the size %q", number)
	}
	_, err = l.out.Discard(len(head) + 1)
	return t, int64(size), err
}

// end checks the checksum, and that nothing follows the object.
func (l *looseReader) end() error {
	_, err := l.out.ReadByte()
	if err == io.EOF {
		_, err = l.file.ReadByte()
	}
	if err == nil {
		return errors.New("garbage behind the object")
	}
	if err != io.EOF {
		return err
	}
	return nil
}

// statLoose fails if the file is missing or empty.
func statLoose(path string) error {
	info, err := os.Stat(path)
	if err == nil && (info.Size() == 0 || !info.Mode().IsRegular()) {
		err = &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return err
}

// gone reports whether err means that a file does not exist.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
