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

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Reader reads the refs that all worktrees share. In the files backend it reads the
// files like git, loose refs first, then packed-refs. For other backends it runs git. An
// outdated result is harmless, because each update is a compare-and-swap.
type Reader struct {
	Git   git.Git
	Path  string // $GIT_COMMON_DIR
	Files bool   // whether refs use the files backend

	packed []byte // packed-refs as read by Hold
}

// A BrokenError reports a ref that does not contain an object id.
type BrokenError struct{ Name, Text string }

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s: broken ref: %q is not an object name", e.Name, e.Text)
}

// Read returns the object id of a ref, or the zero hash if the ref does not exist. It
// fails with *BrokenError. For an invalid ref name Read returns the zero hash, because a
// record may contain any text as its branch.
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

// Parse parses the file content of a ref. It fails with *BrokenError.
func Parse(name string, data []byte) (plumbing.Hash, error) {
	text := strings.TrimRight(string(data), "\n\r \t")
	if !plumbing.IsHash(text) {
		return plumbing.ZeroHash, &BrokenError{name, text}
	}
	return plumbing.NewHash(text), nil
}

// Hold reads packed-refs once for all reads until Let. Updates in that time may use
// outdated old values, which git rejects.
func (r *Reader) Hold() {
	r.packed = nil
	if data, err := packedRefs(r.Path); err == nil && r.Files {
		r.packed = append([]byte{}, data...) // not nil, even if the file is missing
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

// packedAt finds a ref in packed-refs, in which a line is "<hex> <name>".
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

// packedRefs reads packed-refs. A missing file is empty.
func packedRefs(path string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(path, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read packed-refs: %w", err)
	}
	return data, nil
}

// Ask runs git to read a ref and returns its object id, or the zero hash if the ref does
// not exist.
func (r *Reader) Ask(ctx context.Context, name string) (plumbing.Hash, error) {
	refs, err := r.list(ctx, name) // includes refs below name if name is a directory
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

// List runs git for-each-ref and returns the refs below prefixes. It omits refs without a
// valid object id and refs to missing objects.
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

// Names returns the sorted names of the refs below a prefix. In the files backend, it
// includes broken refs that git omits from lists.
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
