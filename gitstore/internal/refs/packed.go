package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
)

// Git sorts packed-refs by name and states that in its header. So one ref is found with a
// binary search: in a repository with 200,000 refs it reads 10 kB instead of 13 MB. The rows
// issues-* of the benchmark pay for this. A file of another program, without the header, is
// read as a whole.

// A packedFile is an open packed-refs file. Its lines are "<hex> <name>". The line "^<hex>" after
// such a line has the target of a tag. Git replaces the file, and never changes it.
type packedFile struct {
	file   io.ReaderAt
	size   int64
	start  int64 // end of the header
	sorted bool  // as the header states
}

// withPacked calls f with packed-refs of a repository, unless the file does not exist. Like
// git, it fails if the last line has no end, because the file is truncated.
func withPacked(dir string, f func(*packedFile) error) error {
	file, err := os.Open(filepath.Join(dir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer file.Close()
		var p *packedFile
		if p, err = readHeader(file); err == nil {
			err = f(p)
		}
	}
	if err != nil && !errors.As(err, new(*BrokenError)) {
		return fmt.Errorf("read packed-refs: %w", err)
	}
	return err
}

// errTruncated reports that the last line of packed-refs has no end.
var errTruncated = errors.New("its last line is not complete")

// headerPrefix is the beginning of the header, before its words.
const headerPrefix = "# pack-refs with: "

func readHeader(file *os.File) (*packedFile, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return &packedFile{file: file}, err
	}
	p := &packedFile{file: file, size: info.Size()}
	last, err := p.read(p.size-1, 1)
	if err != nil {
		return nil, err
	}
	if last[0] != '\n' {
		return nil, errTruncated
	}
	begin, err := p.read(0, probeSize)
	if err != nil || begin[0] != '#' {
		return p, err
	}
	if end := bytes.IndexByte(begin, '\n'); end >= 0 {
		words, _ := strings.CutPrefix(string(begin[:end]), headerPrefix)
		p.start, p.sorted = int64(end)+1, strings.Contains(" "+words+" ", " sorted ")
	}
	return p, nil
}

// read reads up to n bytes at an offset.
func (p *packedFile) read(at, n int64) ([]byte, error) {
	data := make([]byte, min(n, p.size-at))
	_, err := p.file.ReadAt(data, at)
	return data, err
}

// Sizes of the reads of a binary search.
const (
	probeSize = 512  // finds the next line
	blockSize = 4096 // the search reads the lines of a block in order
)

// errUnsorted reports that the lines of packed-refs are not sorted by name, or may not be.
var errUnsorted = errors.New("its lines are not sorted")

// find returns the value of a ref, or the zero hash if packed-refs does not have the ref.
func (p *packedFile) find(name string) (plumbing.Hash, error) {
	needle := []byte(" " + name + "\n")
	from, err := p.seek(name)
	length := int64(objectformat.HexSize + len(needle))
	if errors.Is(err, errUnsorted) {
		from, length, err = p.start, p.size-p.start, nil
	}
	var lines []byte
	if err == nil {
		lines, err = p.read(from, length)
	}
	for at := 0; err == nil; at++ {
		i := bytes.Index(lines[at:], needle)
		if i < 0 {
			break
		}
		at += i
		if start := at - objectformat.HexSize; start == 0 || start > 0 && lines[start-1] == '\n' {
			return Parse(name, lines[start:at])
		}
	}
	return plumbing.ZeroHash, err
}

// below returns lines of packed-refs among which are those of all refs below prefixes, which
// end with a slash.
func (p *packedFile) below(prefixes []string) (string, error) {
	var all strings.Builder
	for _, prefix := range prefixes {
		from, err := p.seek(prefix)
		to := from
		if err == nil {
			to, err = p.seek(strings.TrimSuffix(prefix, "/") + "0") // "0" follows "/"
		}
		var lines []byte
		if err == nil {
			lines, err = p.read(from, to-from)
		}
		if errors.Is(err, errUnsorted) || err == nil && !isSorted(lines) {
			lines, err = p.read(p.start, p.size-p.start)
			return string(lines), err
		}
		if err != nil {
			return "", err
		}
		all.Write(lines)
	}
	return all.String(), nil
}

// seek returns the offset of the first line whose name is not less than name. It fails with
// errUnsorted if the header does not state the order, or the lines that it reads do not have it.
func (p *packedFile) seek(name string) (int64, error) {
	if !p.sorted {
		return 0, errUnsorted
	}
	low, high := p.start, p.size // lines before low are less than name, lines from high on are not
	var least, most string       // names of the lines at low and high
	for high-low > blockSize {
		at, found, err := p.lineAfter((low + high) / 2)
		switch {
		case err != nil:
			return 0, err
		case at >= high: // one long line
			return p.scan(low, high, name)
		case found < least, most != "" && found > most:
			return 0, errUnsorted
		case found < name:
			low, least = at, found
		default:
			high, most = at, found
		}
	}
	return p.scan(low, high, name)
}

// lineAfter returns the offset of the first line of a ref that starts after at, and the name
// of the ref. Without such a line, it returns the size of the file.
func (p *packedFile) lineAfter(at int64) (int64, string, error) {
	for n := int64(probeSize); ; n *= 2 {
		data, err := p.read(at, n)
		if err != nil {
			return 0, "", err
		}
		begin := bytes.IndexByte(data, '\n') + 1
		for begin > 0 {
			length := bytes.IndexByte(data[begin:], '\n')
			if length < 0 {
				break
			}
			if line := data[begin : begin+length]; !bytes.HasPrefix(line, []byte("^")) {
				name, ok := nameOf(line)
				if !ok {
					return 0, "", errUnsorted
				}
				return at + int64(begin), name, nil
			}
			begin += length + 1
		}
		if at+n >= p.size {
			return p.size, "", nil
		}
	}
}

// scan is seek in the lines between two offsets.
func (p *packedFile) scan(low, high int64, name string) (int64, error) {
	data, err := p.read(low, high-low)
	if err != nil {
		return 0, err
	}
	if !isSorted(data) {
		return 0, errUnsorted
	}
	at := low
	for line := range bytes.Lines(data) {
		if found, ok := nameOf(line[:len(line)-1]); ok && found >= name {
			return at, nil
		}
		at += int64(len(line))
	}
	return high, nil
}

// nameOf returns the name of the ref in a line without its end.
func nameOf(line []byte) (string, bool) {
	_, name, ok := bytes.Cut(line, []byte(" "))
	return string(name), ok
}

// isSorted reports whether the names in lines are in ascending order, and no line is invalid.
func isSorted(lines []byte) bool {
	var last []byte
	for line := range bytes.Lines(lines) {
		if line[0] == '^' {
			continue
		}
		_, name, ok := bytes.Cut(line[:len(line)-1], []byte(" "))
		if !ok || bytes.Compare(name, last) < 0 {
			return false
		}
		last = name
	}
	return true
}
