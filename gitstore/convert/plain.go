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

	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Hasher tells the blobs that git would make of regular files of a worktree.
type Hasher struct {
	Git  gitcmd.Git // in any directory of the worktree
	Root *os.Root   // of the worktree
	// Elsewhere reports whether attributes outside the worktree may convert.
	Elsewhere func() bool
	// Staged reports whether the attributes that are staged at a path may. It
	// is asked where the worktree has none; nil stands for "no", which is what
	// git hash-object makes of them, unlike git add.
	Staged func(file string) bool

	inside map[string]bool // whether a directory's attributes may, "." for the root
}

// New is a Hasher for a worktree of the repository at commonDir, with git's
// configuration.
func New(g gitcmd.Git, config []gitcmd.ConfigEntry, commonDir string, root *os.Root) *Hasher {
	elsewhere := func() bool { return Elsewhere(config, commonDir) }
	return &Hasher{Git: g, Root: root, Elsewhere: sync.OnceValue(elsewhere)}
}

// converting are the attributes that change more than line ends.
var converting = [][]byte{[]byte("filter"), []byte("ident"), []byte("working-tree-encoding")}

// maxPlain is the size in bytes up to which a file is looked at. Git streams
// what is larger.
const maxPlain = 1 << 20

// Hash tells the blob of each file, the zero hash for one that cannot be read,
// perhaps by one of its filters. Git is asked about those that it may store
// otherwise than they stand, and about no others.
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

func (h *Hasher) git() gitcmd.Git {
	g := h.Git
	g.Dir = h.Root.Name()
	return g
}

// plain returns the hash of a regular file that git stores as it stands, the
// zero hash for any other.
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

// within reports whether the attributes of a directory, or of one above it, may
// convert.
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

// in judges a directory's own attributes file: that of the worktree, else the
// one that is staged. Git follows no symlink there.
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

// May reports whether attributes may change more than line ends.
func May(attributes []byte) bool {
	return slices.ContainsFunc(converting, func(name []byte) bool { return bytes.Contains(attributes, name) })
}
