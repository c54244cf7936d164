package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
)

// now is where a ref is that is locked: nobody can pack its file away, so that
// what is read first its file, then packed-refs, is the truth.
func (d Dir) now(name string) (plumbing.Hash, error) {
	data, err := readPlain(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return d.packed(name)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	hex, ok := bytes.CutSuffix(data, []byte("\n"))
	if !ok || !plumbing.IsHash(string(hex)) {
		return plumbing.ZeroHash, fmt.Errorf("%s is no plain ref", name)
	}
	return plumbing.NewHash(string(hex)), nil
}

// readPlain reads the small file of a ref, which is no link.
func readPlain(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 100))
}

// packed is where a ref is by packed-refs, a line "<hex> <name>" each; zero where
// it is not.
func (d Dir) packed(name string) (plumbing.Hash, error) {
	data, err := packedRefs(d.Path)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return packedAt(data, name)
}
