package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sort"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Objects reports which objects the repository contains.
type Objects interface {
	Has(plumbing.Hash) bool
}

// Trees stores built trees. It owns the content.
type Trees interface {
	Add(plumbing.ObjectType, []byte) plumbing.Hash
}

// A MissingError reports staged content that the repository lacks.
type MissingError struct {
	Path string
	Hash plumbing.Hash
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%q: object %s is missing", e.Path, e.Hash)
}

// WriteTree returns the tree of stage-0 entries, without intent-to-add entries and
// without directories that are empty as a result. The tree equals that of a successful
// `git write-tree`. For unchanged directories, WriteTree reuses the cached tree in the
// index if have contains that tree. WriteTree adds all new trees to out. If have lacks
// the content of a file also after Fetch, WriteTree returns a *MissingError. It does not check
// commits of submodules.
func (x *Index) WriteTree(have Objects, out Trees) (plumbing.Hash, error) {
	for fetched := plumbing.ZeroHash; ; {
		hash, err := x.writeTree(have, out)
		missing, ok := errors.AsType[*MissingError](err)
		if !ok || x.Fetch == nil || missing.Hash == fetched {
			return hash, err
		}
		fetched = missing.Hash
		if failed := x.Fetch(fetched); failed != nil {
			return plumbing.ZeroHash, fmt.Errorf("%w: %w", err, failed)
		}
	}
}

func (x *Index) writeTree(have Objects, out Trees) (hash plumbing.Hash, err error) {
	err = x.guard(func() (err error) {
		w := writer{f: &x.form, partial: x.Partial, base: x.Base, have: have}
		hash, err = w.write(out)
		return err
	})
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write tree: %s: %w", x.path, err)
	}
	return hash, nil
}

// A writer passes the entries of an index to a builder.
type writer struct {
	f       *form
	partial bool
	base    Base
	have    Objects
	b       *builder
	at      cursor // current entry
	probe   cursor // reads the end of cached directories
	probes  int
}

func (w *writer) write(out Trees) (plumbing.Hash, error) {
	if w.f.cache.root() != none && len(w.f.special) == 0 && w.f.count > 0 {
		root := w.f.cache.nodes[0]
		if int(root.entries) == w.f.count && w.have.Has(root.hash) { // no entry has changed
			return root.hash, nil
		}
	}
	w.b = newBuilder(out, w.f.cache.root(), w.f.most(), w.base.open(w.base.Tree))
	w.at = cursor{f: w.f, i: -1, next: headerSize}
	w.probe = cursor{f: w.f}
	for w.at.i+1 < w.f.count {
		if err := w.at.step(); err != nil {
			return plumbing.ZeroHash, err
		}
		if w.at.special() {
			continue
		}
		if err := w.entry(); err != nil {
			return plumbing.ZeroHash, fmt.Errorf("entry %d: %w", w.at.i, err)
		}
	}
	return w.b.finish(), nil
}

// entry adds the current entry, or the cached tree of a directory that begins with it.
func (w *writer) entry() error {
	path := w.at.path
	if err := w.b.move(path); err != nil {
		return err
	}
	for {
		end, isDir, err := w.b.component(path)
		if err != nil {
			return err
		}
		if !isDir {
			return w.file()
		}
		top := w.b.top()
		start := top.end
		name := path[start : end-1]
		node := w.f.cache.child(top.node, name)
		_, base := top.base.find(name, true)
		ok, err := w.reusable(node, path[:end], base)
		if err != nil {
			return err
		}
		if ok { // add the cached tree and skip its entries
			w.b.append(filemode.Dir, w.b.prev[start:end-1], w.f.cache.nodes[node].hash)
			w.b.prev = w.b.prev[:end]
			w.at, w.probe = w.probe, w.at
			return nil
		}
		w.b.open(end, node, w.base.open(base))
	}
}

// reusable reports whether the cached tree of a node is valid for the directory that
// begins at the current entry. base is the hash of the directory in the base. On success,
// probe points to the directory's last entry.
func (w *writer) reusable(node int, dir []byte, base plumbing.Hash) (bool, error) {
	if node == none {
		return false, nil
	}
	n, hash := int(w.f.cache.nodes[node].entries), w.f.cache.nodes[node].hash
	if n <= 0 || n > w.f.count-w.at.i || w.specialWithin(w.at.i, n) || hash != base && !w.have.Has(hash) {
		return false, nil
	}
	// Each distant read maps the pages around it.
	if w.probes++; w.f.relax != nil && w.probes%someProbes == 0 {
		w.f.relax()
	}
	last := w.at.i + n - 1
	if last+1 < w.f.count {
		// Reject an entry count that does not match the end of the directory, because git
		// does not write it.
		if err := w.probe.seek(last + 1); err != nil || bytes.HasPrefix(w.probe.path, dir) {
			return false, err
		}
	}
	if err := w.probe.seek(last); err != nil {
		return false, err
	}
	return bytes.HasPrefix(w.probe.path, dir), nil
}

// someProbes is the number of distant reads between releases of mapped pages.
const someProbes = 16

// specialWithin reports whether one of n entries from first is special.
func (w *writer) specialWithin(first, n int) bool {
	i := sort.SearchInts(w.f.special, first)
	return i < len(w.f.special) && w.f.special[i] < first+n
}

// file adds the current entry.
func (w *writer) file() error {
	mode, hash := w.at.mode(), w.at.hash()
	if mode == filemode.Dir || modeText(mode) == "" {
		return fmt.Errorf("%q: mode %o is not one of a file", w.at.path, uint32(mode))
	}
	if !w.present(mode, hash) {
		return &MissingError{string(w.at.path), hash}
	}
	w.b.file(mode, hash)
	return nil
}

func (w *writer) present(mode filemode.FileMode, hash plumbing.Hash) bool {
	switch {
	case hash.IsZero():
		return false
	case mode == filemode.Submodule:
		return true
	case w.partial && w.at.more&moreSkipWorktree != 0:
		return true
	case w.b.top().base.has(w.b.name(), mode, hash):
		return true
	}
	return w.have.Has(hash)
}

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
		return 0, false, fmt.Errorf("%q is not a valid file name", name)
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
const entryExtra = len("100644 \x00") + objectformat.Size

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

// A Base is a tree that the repository contains completely, such as the tree of HEAD.
// WriteTree skips checks of objects that the base contains at the same path. The zero
// Base is empty.
type Base struct {
	Tree plumbing.Hash
	Read func(plumbing.Hash) ([]byte, error) // returns the content of a tree object
}

// open returns the base directory with this hash. If it is unreadable, open returns an
// empty directory, so that WriteTree checks all objects.
func (b Base) open(hash plumbing.Hash) baseDir {
	if b.Read == nil || hash.IsZero() {
		return baseDir{}
	}
	content, err := b.Read(hash)
	if err != nil {
		return baseDir{}
	}
	return baseDir{content}
}

// A baseDir is the unread rest of a base directory. Lookups are in tree order, so each
// directory is read once.
type baseDir struct{ rest []byte }

// find returns the mode, as text, and the hash of an entry.
func (d *baseDir) find(name []byte, isDir bool) (mode []byte, hash plumbing.Hash) {
	for len(d.rest) > 0 {
		head, _, ok := bytes.Cut(d.rest, []byte{0})
		mode, at, spaced := bytes.Cut(head, []byte{' '})
		end := len(head) + 1 + objectformat.Size
		if !ok || !spaced || len(d.rest) < end {
			d.rest = nil
			break
		}
		order := compareEntries(at, string(mode) == "40000", name, isDir)
		if order > 0 {
			break
		}
		hash := plumbing.Hash(d.rest[end-objectformat.Size : end])
		d.rest = d.rest[end:]
		if order == 0 {
			return mode, hash
		}
	}
	return nil, plumbing.ZeroHash
}

// has reports whether the directory contains a file with this name, mode and hash.
func (d *baseDir) has(name []byte, mode filemode.FileMode, hash plumbing.Hash) bool {
	found, object := d.find(name, false)
	return found != nil && object == hash && string(found)+" " == modeText(mode)
}

// compareEntries compares entries in tree order: directories sort as if their names ended
// in a slash.
func compareEntries(a []byte, aDir bool, b []byte, bDir bool) int {
	n := min(len(a), len(b))
	if c := bytes.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return cmp.Compare(byteAt(a, aDir, n), byteAt(b, bDir, n))
}

func byteAt(name []byte, isDir bool, i int) byte {
	switch {
	case i < len(name):
		return name[i]
	case isDir:
		return '/'
	}
	return 0
}
