package index

import (
	"bytes"
	"fmt"
	"sort"

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
// the content of a file, WriteTree returns a *MissingError. It does not check commits of
// submodules.
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

// cachedRoot returns the cached tree of the whole index if no entry has changed.
func (w *writer) cachedRoot() (plumbing.Hash, bool) {
	if w.f.cache.root() == none || len(w.f.special) > 0 || w.f.count == 0 {
		return plumbing.ZeroHash, false
	}
	root := w.f.cache.nodes[0]
	ok := int(root.entries) == w.f.count && w.have.Has(root.hash)
	return root.hash, ok
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
		if ok {
			w.reuse(node, start, end)
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

// reuse adds the cached tree of a node and skips its entries.
func (w *writer) reuse(node, start, end int) {
	w.b.append(filemode.Dir, w.b.prev[start:end-1], w.f.cache.nodes[node].hash)
	w.b.prev = w.b.prev[:end]
	w.at, w.probe = w.probe, w.at
}

// file adds the current entry.
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
