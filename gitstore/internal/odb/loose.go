package odb

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/utils/sync"
)

func (s *Database) loosePath(h plumbing.Hash) string { return loosePath(s.cfg.Dir, h) }

func loosePath(dir string, h plumbing.Hash) string {
	var b [2*objectformat.Size + 1]byte
	hex.Encode(b[:], h[:1])
	b[2] = filepath.Separator
	hex.Encode(b[3:], h[1:])
	return filepath.Join(dir, string(b[:]))
}

func readLoose(path string) (t plumbing.ObjectType, content []byte, err error) {
	t, _, err = withLoose(path, func(r *objfile.Reader, t plumbing.ObjectType, size int64) (err error) {
		content, err = readContent(r, t, size)
		return err
	})
	return t, content, err
}

func headLoose(path string) (t plumbing.ObjectType, size int64, err error) {
	return withLoose(path, nil)
}

// maxHeader is the number of bytes of an object, decompressed, in which its header must end, as in git.
// A hostile file of some kilobytes can contain a header of gigabytes.
const maxHeader = 32

// checkHeader fails if the header of the object does not end in time, and sets the file back.
func checkHeader(f io.ReadSeeker, file *bufio.Reader) error {
	r, err := sync.GetZlibReader(file)
	if err != nil {
		return err
	}
	defer sync.PutZlibReader(r)
	head := make([]byte, maxHeader)
	n, _ := io.ReadFull(r.Reader, head) // the reader of objects reports what is wrong with a short one
	if n == maxHeader && bytes.IndexByte(head, 0) < 0 {
		return errors.New("its header has no end")
	}
	_, err = f.Seek(0, io.SeekStart)
	file.Reset(f)
	return err
}

// withLoose opens a file, zlib("<type> <size>" NUL content), and returns its type and size. If use is
// not nil, it reads the content, and withLoose checks that nothing follows. An empty file, which a
// crash can leave, counts as missing. Errors about the content have the path of the file.
func withLoose(path string, use func(r *objfile.Reader, t plumbing.ObjectType, size int64) error) (t plumbing.ObjectType, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	file := bufio.NewReader(f)
	if _, err := file.Peek(1); err == io.EOF {
		return 0, 0, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	} else if err != nil { // objfile would return its text alone
		return 0, 0, err
	}
	var r *objfile.Reader
	if err = checkHeader(f, file); err == nil {
		r, err = objfile.NewReader(file)
	}
	if err == nil {
		defer r.Close()
		t, size, err = r.Header()
	}
	if err == nil && (t > plumbing.TagObject || size < 0) {
		err = fmt.Errorf("object has the type %s and the size %d", t, size)
	}
	if err == nil && use != nil {
		if err = use(r, t, size); err == nil {
			err = endLoose(r, file)
		}
	}
	switch {
	case err == nil || errors.Is(err, ErrTooLarge) || errors.As(err, new(*fs.PathError)):
		return t, size, err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return t, size, fmt.Errorf("%s: corrupt: %w", path, err)
}

// endLoose checks the checksum, and that nothing follows the object.
func endLoose(r io.Reader, file *bufio.Reader) error {
	n, err := r.Read(make([]byte, 1))
	if n == 0 && err == io.EOF {
		if _, err = file.ReadByte(); err == io.EOF {
			return nil
		}
	}
	if n > 0 || err == nil {
		return errors.New("garbage behind the object")
	}
	return err
}

// statLoose fails if the file is missing or empty.
func statLoose(path string) error {
	info, err := os.Stat(path)
	if err == nil && (info.Size() == 0 || !info.Mode().IsRegular()) {
		err = &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return err
}

func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
