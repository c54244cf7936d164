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

// now returns the value of a locked ref. The lock prevents git from packing the ref, so
// reading its file first and packed-refs second is correct.
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

// readPlain reads the file of a ref. It fails for symbolic links.
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

// packed returns the value of a ref in packed-refs, zero if packed-refs does not contain
// the ref.
func (d Dir) packed(name string) (plumbing.Hash, error) {
	data, err := packedRefs(d.Path)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return packedAt(data, name)
}
