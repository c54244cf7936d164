package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// A builder builds trees from paths in index order, which is also the order of tree
// entries: `a.b` before `a/b` before `a0`.
type builder struct {
	out  Trees
	prev []byte // previous path
	// dirs are the open directories of prev, the root first.
	dirs []dir
	// size is the total size of all trees. most limits it, because an index of version 4
	// can encode gigabytes of paths in few bytes.
	size, most int
	// files contains the lengths of those prefixes of prev that are files. A path that
	// continues such a prefix with a slash uses a file as a directory.
	files []int
}

type dir struct {
	end  int    // length of its path in prev, with slash
	node int    // node in the cache-tree
	tree []byte // tree content so far
	base baseDir
}

// maxDepth is not less than git's default of core.maxTreeDepth.
const maxDepth = 4096

var (
	errOrder = errors.New("entries are not in order")
	errSize  = errors.New("paths are too long for an index of this size")
)

func newBuilder(out Trees, root, most int, base baseDir) *builder {
	b := &builder{out: out, most: most}
	b.open(0, root, base)
	return b
}

// move closes the directories that do not contain path.
func (b *builder) move(path []byte) error {
	if b.size > b.most {
		return errSize
	}
	n := common(b.prev, path)
	if n == len(path) || n < len(b.prev) && path[n] < b.prev[n] {
		return errOrder
	}
	for b.top().end > n {
		b.close()
	}
	for len(b.files) > 0 && b.files[len(b.files)-1] > n {
		b.files = b.files[:len(b.files)-1]
	}
	if k := len(b.files); k > 0 && path[b.files[k-1]] == '/' {
		return fmt.Errorf("%q is a file and a directory", path[:b.files[k-1]])
	}
	b.prev = append(b.prev[:0], path...)
	return nil
}

// component returns the end of the next path component below the top directory and
// reports whether the component is a directory. For a directory, end includes the slash.
func (b *builder) component(path []byte) (end int, isDir bool, err error) {
	start := b.top().end
	name := path[start:]
	end = len(path)
	if i := bytes.IndexByte(name, '/'); i >= 0 {
		name, isDir, end = name[:i], true, start+i+1
	}
	if len(b.dirs) > maxDepth {
		return 0, false, fmt.Errorf("more than %d directories in a path", maxDepth)
	}
	if !allowed(name) {
		return 0, false, fmt.Errorf("%q is no name for a file", name)
	}
	return end, isDir, nil
}

// allowed reports whether git accepts the name in an index.
func allowed(name []byte) bool {
	if len(name) == 0 {
		return false
	}
	if name[0] != '.' {
		return true
	}
	return len(name) > 1 && string(name) != ".." && !bytes.EqualFold(name, []byte(".git"))
}

func (b *builder) open(end, node int, base baseDir) {
	if len(b.dirs) < cap(b.dirs) {
		// Reuse the buffer of a closed directory.
		b.dirs = b.dirs[:len(b.dirs)+1]
	} else {
		b.dirs = append(b.dirs, dir{})
	}
	d := b.top()
	d.end, d.node, d.tree, d.base = end, node, d.tree[:0], base
}

func (b *builder) top() *dir { return &b.dirs[len(b.dirs)-1] }

// close writes the top tree and adds it to its parent.
func (b *builder) close() {
	d := b.top()
	hash := b.out.Add(plumbing.TreeObject, bytes.Clone(d.tree))
	b.dirs = b.dirs[:len(b.dirs)-1]
	b.append(filemode.Dir, b.prev[b.top().end:d.end-1], hash)
}

// entryExtra is the size of a tree entry without its name.
const entryExtra = len("100644 \x00") + hashSize

// append adds an entry to the top tree.
func (b *builder) append(mode filemode.FileMode, name []byte, hash plumbing.Hash) {
	d := b.top()
	b.size += len(name) + entryExtra
	d.tree = append(d.tree, modeText(mode)...)
	d.tree = append(d.tree, name...)
	d.tree = append(d.tree, 0)
	d.tree = append(d.tree, hash[:]...)
}

// name returns the last component of prev.
func (b *builder) name() []byte { return b.prev[b.top().end:] }

// file adds the last component of prev as a file.
func (b *builder) file(mode filemode.FileMode, hash plumbing.Hash) {
	b.append(mode, b.name(), hash)
	b.files = append(b.files, len(b.prev))
}

// finish closes all directories and returns the root tree.
func (b *builder) finish() plumbing.Hash {
	for len(b.dirs) > 1 {
		b.close()
	}
	return b.out.Add(plumbing.TreeObject, bytes.Clone(b.top().tree))
}

// modeText returns a mode in tree format with a trailing space, or "" if an index cannot
// contain the mode.
func modeText(m filemode.FileMode) string {
	switch m {
	case filemode.Regular:
		return "100644 "
	case filemode.Executable:
		return "100755 "
	case filemode.Symlink:
		return "120000 "
	case filemode.Submodule:
		return "160000 "
	case filemode.Dir:
		return "40000 "
	}
	return ""
}

// common returns the length of the common prefix.
func common(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
