package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// find returns the value of a ref, or the zero hash if packed-refs does not have the ref.
func (p *packedFile) find(name string) (plumbing.Hash, error) {
	from, length := p.start, p.size-p.start
	if p.sorted {
		var err error
		if from, err = p.seek(name); err != nil {
			return plumbing.ZeroHash, err
		}
		length = int64(objectformat.HexSize + len(" \n") + len(name))
	}
	lines, err := p.read(from, length)
	for line := range bytes.Lines(lines) {
		if nameOf(line) == name {
			return Parse(name, line[:objectformat.HexSize])
		}
	}
	return plumbing.ZeroHash, err
}

// packedBelow returns lines of packed-refs among which are those of all refs below prefixes, which
// end with a slash.
func packedBelow(dir string, prefixes []string) (lines string, err error) {
	err = withPacked(dir, func(p *packedFile) (err error) {
		lines, err = p.below(prefixes)
		return err
	})
	return lines, err
}

func (p *packedFile) below(prefixes []string) (string, error) {
	if !p.sorted {
		lines, err := p.read(p.start, p.size-p.start)
		return string(lines), err
	}
	var all strings.Builder
	for _, prefix := range prefixes {
		from, err := p.seek(prefix)
		if err != nil {
			return "", err
		}
		to, err := p.seek(strings.TrimSuffix(prefix, "/") + "0") // "0" follows "/"
		if err != nil {
			return "", err
		}
		lines, err := p.read(from, to-from)
		if err != nil {
			return "", err
		}
		all.Write(lines)
	}
	return all.String(), nil
}

// seek returns the offset of the first line in a sorted file whose name is not less than name.
func (p *packedFile) seek(name string) (int64, error) {
	low, high := p.start, p.size // lines before low are less than name, lines from high on are not
	for high-low > blockSize {
		at, found, err := p.lineAfter((low + high) / 2)
		if err != nil {
			return 0, err
		}
		if at >= high { // long lines
			break
		}
		if found < name {
			low = at
		} else {
			high = at
		}
	}
	lines, err := p.read(low, high-low)
	for line := range bytes.Lines(lines) {
		if found := nameOf(line); found >= name && found != "" {
			return low, err
		}
		low += int64(len(line))
	}
	return high, err
}

// lineAfter returns the offset of the first line of a ref that starts after at, and the name
// of the ref. Without such a line, it returns the size of the file.
func (p *packedFile) lineAfter(at int64) (int64, string, error) {
	for n := int64(probeSize); ; n *= 2 {
		data, err := p.read(at, n)
		if err != nil {
			return 0, "", err
		}
		offset := at
		for k, line := range slices.Collect(bytes.Lines(data)) {
			if name := nameOf(line); k > 0 && name != "" {
				return offset, name, nil
			}
			offset += int64(len(line))
		}
		if at+n >= p.size {
			return p.size, "", nil
		}
	}
}

// nameOf returns the name of the ref in a complete line, or "" for another line.
func nameOf(line []byte) string {
	text, isWhole := strings.CutSuffix(string(line), "\n")
	if !isWhole || len(text) <= objectformat.HexSize || text[objectformat.HexSize] != ' ' {
		return ""
	}
	return text[objectformat.HexSize+1:]
}
