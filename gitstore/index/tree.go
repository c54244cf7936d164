package index

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Objects tells which objects the repository has.
type Objects interface {
	Has(plumbing.Hash) bool
}

// Trees takes the trees that are built. The content is the receiver's.
type Trees interface {
	Add(plumbing.ObjectType, []byte) plumbing.Hash
}

// MissingError is staged content that the repository does not have.
type MissingError struct {
	Path string
	Hash plumbing.Hash
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%q: object %s is missing", e.Path, e.Hash)
}

// WriteTree returns the tree of the stage-0 entries, without intent-to-add
// ones and without the directories that stay empty so: where `git write-tree`
// succeeds, the same tree. A directory that did not change since git wrote
// its tree is taken from the index if that tree is in have; all others go to
// out, and the content of their files has to be in have, else the error is a
// *MissingError. Commits of submodules are not asked for.
func (x *Index) WriteTree(have Objects, out Trees) (plumbing.Hash, error) {
	var hash plumbing.Hash
	err := x.guard(func() (err error) {
		w := writer{f: &x.form, partial: x.Partial, base: x.Base, have: have}
		hash, err = w.write(out)
		return err
	})
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write tree: %s: %w", x.path, err)
	}
	return hash, nil
}

// writer drives a builder from the entries of an index.
type writer struct {
	f       *form
	partial bool
	base    Base
	have    Objects
	b       *builder
	at      cursor // the entry that is written
	probe   cursor // looks at the end of cached directories
	probes  int
}

func (w *writer) write(out Trees) (plumbing.Hash, error) {
	if hash, ok := w.cachedRoot(); ok {
		return hash, nil
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

// cachedRoot is the tree of the whole index, if nothing changed at all.
func (w *writer) cachedRoot() (plumbing.Hash, bool) {
	if w.f.cache.root() == none || len(w.f.special) > 0 || w.f.count == 0 {
		return plumbing.ZeroHash, false
	}
	root := w.f.cache.nodes[0]
	ok := int(root.entries) == w.f.count && w.have.Has(root.hash)
	return root.hash, ok
}

// entry adds the entry under the cursor, or the cached tree of a directory
// that begins with it.
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
		if ok {
			w.reuse(node, start, end)
			return nil
		}
		w.b.open(end, node, w.base.open(base))
	}
}

// reusable says whether a node of the cache-tree stands for the directory
// that begins with the entry under the cursor, which is the tree base in the
// base. The probe then is on its last entry.
func (w *writer) reusable(node int, dir []byte, base plumbing.Hash) (bool, error) {
	if node == none {
		return false, nil
	}
	n, hash := int(w.f.cache.nodes[node].entries), w.f.cache.nodes[node].hash
	if n <= 0 || n > w.f.count-w.at.i || w.specialWithin(w.at.i, n) || hash != base && !w.have.Has(hash) {
		return false, nil
	}
	// Each look far ahead maps the pages around it.
	if w.probes++; w.f.relax != nil && w.probes%someProbes == 0 {
		w.f.relax()
	}
	last := w.at.i + n - 1
	if last+1 < w.f.count {
		// A count that does not end where the directory ends is not git's.
		if err := w.probe.seek(last + 1); err != nil || bytes.HasPrefix(w.probe.path, dir) {
			return false, err
		}
	}
	if err := w.probe.seek(last); err != nil {
		return false, err
	}
	return bytes.HasPrefix(w.probe.path, dir), nil
}

// someProbes is how many looks ahead keep their pages.
const someProbes = 16

// specialWithin says whether one of the n entries from first is special.
func (w *writer) specialWithin(first, n int) bool {
	i := sort.SearchInts(w.f.special, first)
	return i < len(w.f.special) && w.f.special[i] < first+n
}

// reuse adds the tree of a node and goes on behind its entries.
func (w *writer) reuse(node, start, end int) {
	w.b.append(filemode.Dir, w.b.prev[start:end-1], w.f.cache.nodes[node].hash)
	w.b.prev = w.b.prev[:end]
	w.at, w.probe = w.probe, w.at
}

// file adds the entry under the cursor.
func (w *writer) file() error {
	mode, hash := w.at.mode(), w.at.hash()
	if mode == filemode.Dir || modeText(mode) == "" {
		return fmt.Errorf("%q: mode %o is none of a file", w.at.path, uint32(mode))
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
