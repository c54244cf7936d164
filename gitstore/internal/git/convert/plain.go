package convert

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Hasher computes the blobs that git would store for regular files of a worktree.
type Hasher struct {
	Git  git.Git  // in any directory of the worktree
	Root *os.Root // root of the worktree
	// Elsewhere reports whether attributes outside the worktree may convert.
	Elsewhere func() bool
	// Staged reports whether staged attributes at a path may convert. It is called if the
	// worktree has no file at that path. Nil means no staged attributes, as for git
	// hash-object, but not git add.
	Staged func(file string) bool

	inside map[string]bool // by directory: attributes may convert; "." is the root
}

// New returns a Hasher for a worktree of the repository at commonDir, given git's
// configuration.
func New(g git.Git, config []git.ConfigEntry, commonDir string, root *os.Root) *Hasher {
	elsewhere := func() bool { return Elsewhere(config, commonDir) }
	return &Hasher{Git: g, Root: root, Elsewhere: sync.OnceValue(elsewhere)}
}

// converting are the attributes that convert more than line endings.
var converting = [][]byte{[]byte("filter"), []byte("ident"), []byte("working-tree-encoding")}

// maxPlain is the maximum size in bytes of files hashed in this process. Git streams
// larger files.
const maxPlain = 1 << 20

// Hash returns the blob of each file. The hash of an unreadable file is zero, for example
// if a filter fails. Hash runs git only for files that git may convert.
func (h *Hasher) Hash(ctx context.Context, files []string) ([]plumbing.Hash, error) {
	hashes := make([]plumbing.Hash, len(files))
	var left []int
	var asked []string
	for i, file := range files {
		if hashes[i] = h.plain(file); hashes[i].IsZero() {
			left, asked = append(left, i), append(asked, file)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	told, err := Ask(ctx, h.git(), asked)
	if err == nil {
		err = h.keepCarriages(ctx, asked, told)
	}
	for n, i := range left {
		hashes[i] = told[n]
	}
	return hashes, err
}

func (h *Hasher) git() git.Git {
	g := h.Git
	g.Dir = h.Root.Name()
	return g
}

// plain returns the hash of a regular file that git stores without conversion, else zero.
func (h *Hasher) plain(file string) plumbing.Hash {
	info, err := h.Root.Lstat(filepath.FromSlash(file))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPlain || h.Elsewhere() || h.within(path.Dir(file)) {
		return plumbing.ZeroHash
	}
	data, err := h.Root.ReadFile(filepath.FromSlash(file))
	if err != nil || bytes.IndexByte(data, '\r') >= 0 {
		return plumbing.ZeroHash
	}
	return plumbing.ComputeHash(plumbing.BlobObject, data)
}

// within reports whether attributes in a directory or its parents may convert.
func (h *Hasher) within(dir string) bool {
	may, known := h.inside[dir]
	if !known {
		if h.inside == nil {
			h.inside = map[string]bool{}
		}
		may = h.in(dir) || dir != "." && h.within(path.Dir(dir))
		h.inside[dir] = may
	}
	return may
}

// in reports whether a directory's attributes file may convert: the file in the worktree,
// or else the staged file. Git does not follow symlinks there.
func (h *Hasher) in(dir string) bool {
	file := path.Join(dir, ".gitattributes")
	info, err := h.Root.Lstat(filepath.FromSlash(file))
	if errors.Is(err, fs.ErrNotExist) {
		return h.Staged != nil && h.Staged(file)
	}
	if err != nil || !info.Mode().IsRegular() {
		return true
	}
	data, err := h.Root.ReadFile(filepath.FromSlash(file))
	return err != nil || May(data)
}

// May reports whether attributes may convert more than line endings.
func May(attributes []byte) bool {
	return slices.ContainsFunc(converting, func(name []byte) bool { return bytes.Contains(attributes, name) })
}
