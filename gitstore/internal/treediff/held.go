package treediff

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A held builds trees of a checkpoint's files: captured worktree files, otherwise staged
// files. Such trees are not stored in the repository. All their objects are stored except
// directories that differ from staged/.
type held struct {
	objects trees.Reader
	made    map[plumbing.Hash][]byte
	kinds   map[plumbing.Hash]plumbing.ObjectType // of made objects that are no trees
}

// Read returns a generated or stored object.
func (h *held) Read(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if data, ok := h.made[hash]; ok {
		return plumbing.TreeObject, data, nil
	}
	return h.objects.Read(hash)
}

// tree returns the tree of a side, and its unmerged paths with all stages. An unmerged
// path without captured file uses ours, then theirs, then base.
func (h *held) tree(s Side) (tree plumbing.Hash, unmerged map[string]contents.Stages, err error) {
	over := map[string]contents.Side{}
	if unmerged, err = h.unmerged(s.Entries); err != nil {
		return tree, nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	for path, st := range unmerged {
		for _, stage := range []int{1, 3, 2} {
			if st[stage] != (contents.Side{}) {
				over[path] = st[stage]
			}
		}
	}
	for _, path := range s.Deleted {
		over[path] = contents.Side{}
	}
	for _, name := range []string{"worktree", "untracked", "artifacts"} {
		if err := h.files(s.Entries, name, func(f trees.FileEntry) { over[f.Path] = contents.Side{Mode: f.Mode, Hash: f.Hash} }); err != nil {
			return tree, nil, fmt.Errorf("%s: %s/: %w", s.Name, name, err)
		}
	}
	files := make([]trees.FileEntry, 0, len(over))
	for path, f := range over {
		files = append(files, trees.FileEntry{Path: path, Mode: f.Mode, Hash: f.Hash})
	}
	slices.SortFunc(files, func(a, b trees.FileEntry) int { return strings.Compare(a.Path, b.Path) })
	e, _ := trees.Find(s.Entries, "staged")
	tree, err = h.overlay(e.Hash, files)
	return tree, unmerged, err
}

// files calls each for every file below an entry, if present.
func (h *held) files(entries []trees.Entry, name string, each func(trees.FileEntry)) error {
	e, ok := trees.Find(entries, name)
	if !ok {
		return nil
	}
	changes, err := trees.Diff(h.objects, plumbing.ZeroHash, e.Hash)
	for _, c := range changes {
		each(trees.FileEntry{Path: c.Path, Mode: c.New.Mode, Hash: c.New.Hash})
	}
	return err
}

func (h *held) unmerged(entries []trees.Entry) (map[string]contents.Stages, error) {
	e, ok := trees.Find(entries, "conflicts")
	if !ok {
		return nil, nil
	}
	stages, err := trees.Read(h.objects, e.Hash)
	if err != nil {
		return nil, err
	}
	paths := map[string]contents.Stages{}
	for stage := 1; stage <= 3; stage++ {
		err := h.files(stages, fmt.Sprint(stage), func(f trees.FileEntry) {
			st := paths[f.Path]
			st[stage] = contents.Side{Mode: f.Mode, Hash: f.Hash}
			paths[f.Path] = st
		})
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// overlay returns a tree with replaced files; files with mode 0 are removed. If a file
// and a directory share a name, the directory wins. An empty tree is zero.
func (h *held) overlay(base plumbing.Hash, files []trees.FileEntry) (plumbing.Hash, error) {
	if len(files) == 0 {
		return base, nil
	}
	list, err := trees.Read(h, base)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	entries := make(map[string]trees.Entry, len(list))
	for _, e := range list {
		entries[e.Name] = e
	}
	below := map[string][]trees.FileEntry{}
	for _, f := range files {
		name, rest, deeper := strings.Cut(f.Path, "/")
		switch {
		case deeper:
			below[name] = append(below[name], trees.FileEntry{Path: rest, Mode: f.Mode, Hash: f.Hash})
		case f.Mode != 0:
			entries[name] = trees.Entry{Mode: f.Mode, Name: name, Hash: f.Hash}
		case !entries[name].IsTree():
			delete(entries, name)
		}
	}
	for name, files := range below {
		if err := h.overlayBelow(entries, name, files); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	if len(entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	data := trees.Encode(slices.Collect(maps.Values(entries)))
	hash := plumbing.ComputeHash(plumbing.TreeObject, data)
	h.made[hash] = data
	return hash, nil
}

func (h *held) overlayBelow(entries map[string]trees.Entry, name string, files []trees.FileEntry) error {
	e, there := entries[name]
	if !e.IsTree() {
		e.Hash = plumbing.ZeroHash
	}
	hash, err := h.overlay(e.Hash, files)
	switch {
	case err != nil:
		return err
	case !hash.IsZero():
		entries[name] = trees.Entry{Mode: trees.ModeTree, Name: name, Hash: hash}
	case there && e.IsTree():
		delete(entries, name)
	}
	return nil
}

// write stores generated objects as loose objects below dir. Concurrent processes may write and
// read the same objects.
func (h *held) write(dir string) error {
	for hash, data := range h.made {
		name := hash.String()
		path := filepath.Join(dir, name[:2], name[2:])
		if info, err := os.Stat(path); err == nil && info.Size() > 0 { // a crash can leave an empty file
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		fmt.Fprintf(z, "%s %d\x00", cmp.Or(h.kinds[hash], plumbing.TreeObject), len(data))
		z.Write(data) // writes to a buffer never fail
		z.Close()
		if err := fsutil.ReplaceFile(path, &b, fsutil.ReplaceOptions{Temp: "tmp_", Mode: 0o600}); err != nil {
			return err
		}
	}
	return nil
}

// A Whole builds the whole states of checkpoints as trees, and objects on top of them. They are
// not stored in the repository until Write.
type Whole struct{ held held }

// NewWhole returns a Whole that reads stored objects from r.
func NewWhole(r trees.Reader) *Whole {
	return &Whole{held{objects: r, made: map[plumbing.Hash][]byte{}, kinds: map[plumbing.Hash]plumbing.ObjectType{}}}
}

// Tree returns the tree of a side: its captured files, otherwise its staged files. An unmerged
// path without captured file has ours, then theirs, then base.
func (w *Whole) Tree(s Side) (plumbing.Hash, error) {
	tree, _, err := w.held.tree(s)
	if err == nil && tree.IsZero() {
		tree = w.Add(plumbing.TreeObject, nil)
	}
	return tree, err
}

// Replace returns a tree with a file replaced.
func (w *Whole) Replace(base plumbing.Hash, f trees.FileEntry) (plumbing.Hash, error) {
	return w.held.overlay(base, []trees.FileEntry{f})
}

// Read reads an added or a stored object.
func (w *Whole) Read(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	return w.held.Read(hash)
}

// Add adds an object and returns its name.
func (w *Whole) Add(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	hash := plumbing.ComputeHash(kind, content)
	w.held.made[hash] = content
	w.held.kinds[hash] = kind
	return hash
}

// Len returns the number of added objects.
func (w *Whole) Len() int { return len(w.held.made) }

// Each calls do for each added object.
func (w *Whole) Each(do func(kind plumbing.ObjectType, content []byte)) {
	for hash, content := range w.held.made {
		do(cmp.Or(w.held.kinds[hash], plumbing.TreeObject), content)
	}
}

// Write stores the objects as loose objects below dir, and forgets them.
func (w *Whole) Write(dir string) error {
	if err := w.held.write(dir); err != nil {
		return err
	}
	clear(w.held.made)
	clear(w.held.kinds)
	return nil
}
