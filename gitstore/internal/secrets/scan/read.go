package scan

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
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
	switch formOf(head) {
	case compressed:
		return Result{Skipped: "compressed"}, nil
	case littleEndian:
		text = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Reader(in)
	case bigEndian:
		text = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Reader(in)
	case littleEndian32:
		text = utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM).NewDecoder().Reader(in)
	case bigEndian32:
		text = utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM).NewDecoder().Reader(in)
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
