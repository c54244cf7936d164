package scan

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// A Result is the result of Read.
type Result struct {
	Findings []Finding
	Skipped  string // reason for skipping the file, "" if scanned
}

// piece is the read buffer size in bytes.
const piece = 256 << 10

// scratches contains buffers for the next calls of Read. Most files are much smaller than
// the buffers.
var scratches = sync.Pool{New: func() any { return &scratch{buf: make([]byte, 0, piece)} }}

// Read searches a file of any size for secrets, in bounded memory. Text may be UTF-8 or a
// similar encoding, UTF-16 or UTF-32. If a file is binary, only rules with a distinctive
// format apply. If it is compressed, Read skips it.
func Read(r io.Reader) (Result, error) {
	in := bufio.NewReaderSize(r, 16<<10)
	head, err := in.Peek(8000)
	if err != nil && !errors.Is(err, io.EOF) {
		return Result{}, err
	}
	buffers := scratches.Get().(*scratch)
	defer scratches.Put(buffers)
	s := searcher{scratch: *buffers}
	var text io.Reader = in
	switch f := formOf(head); f {
	case compressed:
		return Result{Skipped: "compressed"}, nil
	case littleEndian, bigEndian:
		text = &wideReader{r: in, big: f == bigEndian, unit: 2}
	case littleEndian32, bigEndian32:
		text = &wideReader{r: in, big: f == bigEndian32, unit: 4}
	case bytesOnly:
		s.binary = true
	}
	err = s.read(text)
	*buffers = s.scratch
	return Result{Findings: s.found}, err
}

// read scans a text in pieces.
func (s *searcher) read(r io.Reader) error {
	buf := s.buf[:0]
	for len(s.found) < maxFindings {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				s.lines(buf)
				return nil
			}
			return err
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		keep := buf[end:]
		if end == 0 {
			end, keep = len(buf), buf[len(buf)-overlap:]
		}
		s.lines(buf[:end])
		buf = buf[:copy(buf[:cap(buf)], keep)]
	}
	return nil
}

// A form is the encoding or format of a file.
type form int

const (
	plain form = iota // UTF-8, or another encoding without NUL bytes
	littleEndian
	bigEndian
	littleEndian32
	bigEndian32
	bytesOnly
	compressed
)

// formOf detects the form by the first bytes of a file.
func formOf(head []byte) form {
	for _, magic := range []string{"\x1f\x8b", "PK\x03\x04", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd", "BZh", "7z\xbc\xaf\x27\x1c"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return compressed
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")): // before UTF-16, whose mark is a prefix of this mark
		return littleEndian32
	case bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return bigEndian32
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return littleEndian
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return bigEndian
	case bytes.IndexByte(head, 0) < 0:
		return plain
	}
	return guessed(head)
}

// guessed detects UTF-16 and UTF-32 without a byte order mark. In most UTF-16 texts,
// either all even or all odd bytes contain many NULs and the other bytes contain no NUL.
// In UTF-32, the high byte of each unit is NUL, usually with two more NULs.
func guessed(head []byte) form {
	var zeros [4]int
	for i, b := range head {
		if b == 0 {
			zeros[i%4]++
		}
	}
	wide := len(head) / 4
	switch units := len(head) / 2; {
	case wide > 0 && zeros[3] == wide && zeros[2] > wide/2 && zeros[1] > wide/2 && zeros[0] <= wide/8:
		return littleEndian32
	case wide > 0 && zeros[0] >= wide && zeros[1] > wide/2 && zeros[2] > wide/2 && zeros[3] <= wide/8:
		return bigEndian32
	case zeros[0]+zeros[2] == 0 && zeros[1]+zeros[3] > units/2:
		return littleEndian
	case zeros[1]+zeros[3] == 0 && zeros[0]+zeros[2] > units/2:
		return bigEndian
	}
	return bytesOnly
}

// A wideReader converts UTF-16 or UTF-32 to UTF-8. Invalid units become U+FFFD.
type wideReader struct {
	r    *bufio.Reader
	big  bool
	unit int    // bytes per unit: 2 or 4
	rest []byte // remaining bytes of a character
	half rune   // high surrogate, 0 if absent
	err  error
}

func (u *wideReader) Read(p []byte) (int, error) {
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	for len(p)-n >= utf8.UTFMax && u.err == nil {
		n += copy(p[n:], u.next())
	}
	if n == 0 && u.err == nil && len(p) > 0 { // buffer smaller than one character
		u.rest = u.next()
		return u.Read(p)
	}
	if n > 0 {
		return n, nil
	}
	return 0, u.err
}

// next returns the next character as UTF-8. It returns nil at the end and after a high
// surrogate.
func (u *wideReader) next() []byte {
	var b [4]byte
	if _, err := io.ReadFull(u.r, b[:u.unit]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		u.err = err
		return nil
	}
	if u.big {
		slices.Reverse(b[:u.unit])
	}
	c := rune(binary.LittleEndian.Uint32(b[:]))
	if u.unit == 4 {
		return utf8.AppendRune(nil, c)
	}
	switch first := u.half; {
	case first != 0:
		u.half = 0
		return utf8.AppendRune(nil, utf16.DecodeRune(first, c))
	case 0xd800 <= c && c < 0xdc00:
		u.half = c
		return nil
	}
	return utf8.AppendRune(nil, c)
}
