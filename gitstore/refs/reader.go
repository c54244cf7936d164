package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Reader reads the refs that all worktrees share. Where refs are files it reads
// those as git does, loose first, then packed-refs; other backends it asks git
// about. A stale answer is harmless, since every move names the value it expects.
type Reader struct {
	Git   gitcmd.Git
	Path  string // $GIT_COMMON_DIR
	Files bool   // whether refs are files

	packed []byte // what Hold has read
}

// A BrokenError is a ref that holds no object's name.
type BrokenError struct{ Name, Text string }

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s: broken ref: %q is not an object name", e.Name, e.Text)
}

// Read returns what a ref points to, the zero hash when there is none. It fails
// with *BrokenError. A name that git would not give a ref has none: a record may
// have any text for its branch.
func (r *Reader) Read(ctx context.Context, name string) (plumbing.Hash, error) {
	if !MayBe(name) {
		return plumbing.ZeroHash, nil
	}
	if !r.Files {
		return r.Ask(ctx, name)
	}
	data, err := readStored(folder(r.Path), name)
	switch {
	case err == nil:
		return Parse(name, data)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return r.readPacked(name)
	}
	return plumbing.ZeroHash, fmt.Errorf("read %s: %w", name, err)
}

// Parse reads the file of a ref. It fails with *BrokenError.
func Parse(name string, data []byte) (plumbing.Hash, error) {
	text := strings.TrimRight(string(data), "\n\r \t")
	if !plumbing.IsHash(text) {
		return plumbing.ZeroHash, &BrokenError{name, text}
	}
	return plumbing.NewHash(text), nil
}

// Hold reads packed-refs once for all that is read until Let. What is moved then
// is moved from values that are a little older, which git refuses where they are
// no more.
func (r *Reader) Hold() {
	r.packed = nil
	if data, err := packedRefs(r.Path); err == nil && r.Files {
		r.packed = append([]byte{}, data...) // not nil, even where there is none
	}
}

// Let ends Hold.
func (r *Reader) Let() { r.packed = nil }

func (r *Reader) readPacked(name string) (plumbing.Hash, error) {
	data, err := r.packed, error(nil)
	if data == nil {
		data, err = packedRefs(r.Path)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return packedAt(data, name)
}

// packedAt looks in packed-refs; a line is "<hex> <name>".
func packedAt(data []byte, name string) (plumbing.Hash, error) {
	needle := []byte(" " + name + "\n")
	for from := 0; ; {
		i := bytes.Index(data[from:], needle)
		if i < 0 {
			return plumbing.ZeroHash, nil
		}
		at := from + i
		if start := at - 40; start == 0 || start > 0 && data[start-1] == '\n' {
			return Parse(name, data[start:at])
		}
		from = at + 1
	}
}

// packedRefs reads packed-refs, which need not be there.
func packedRefs(path string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(path, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read packed-refs: %w", err)
	}
	return data, nil
}

// Ask asks git what a ref points to, the zero hash if there is none.
func (r *Reader) Ask(ctx context.Context, name string) (plumbing.Hash, error) {
	refs, err := r.list(ctx, name) // also what is below name, where it is a directory
	if err != nil || !refs[name].IsZero() || !r.hasTables() {
		return refs[name], err
	}
	missing, err := r.isMissing(ctx, name)
	if err != nil || missing {
		return plumbing.ZeroHash, err
	}
	refs, err = r.list(ctx, name)
	return refs[name], err
}

// List asks git for the refs below prefixes. It leaves out those that hold no
// object's name, or the name of an object that is not there.
func (r *Reader) List(ctx context.Context, prefixes ...string) (map[string]plumbing.Hash, error) {
	refs, err := r.list(ctx, prefixes...)
	if err != nil || len(refs) > 0 || !r.hasTables() {
		return refs, err
	}
	return r.listTables(ctx, prefixes)
}

func (r *Reader) list(ctx context.Context, args ...string) (map[string]plumbing.Hash, error) {
	out, err := r.Git.Output(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", strings.Join(args, " "), err)
	}
	refs := map[string]plumbing.Hash{}
	for line := range strings.Lines(string(out)) {
		hex, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs[name] = plumbing.NewHash(hex)
	}
	return refs, nil
}

// Names are the names of the refs below a prefix, in their order. Where refs are
// files, those are among them that git leaves out of its lists. Other backends
// are git's alone.
func (r *Reader) Names(ctx context.Context, prefix string) ([]string, error) {
	if !r.Files {
		refs, err := r.List(ctx, prefix)
		return slices.Sorted(maps.Keys(refs)), err
	}
	names, err := Stored(r.Path, prefix)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
