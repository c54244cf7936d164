package trees

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Replace stores a tree with files replaced or added, and returns its hash, zero if the
// tree is empty. Replace removes files with zero hash.
func Replace(r Reader, to Adder, tree plumbing.Hash, files []FileEntry) (plumbing.Hash, error) {
	var entries []Entry
	if !tree.IsZero() {
		var err error
		if entries, err = Read(r, tree); err != nil {
			return plumbing.ZeroHash, err
		}
		entries = slices.Clone(entries)
	}
	below := map[string][]FileEntry{}
	for _, f := range files {
		if name, rest, deeper := strings.Cut(f.Path, "/"); deeper {
			below[name] = append(below[name], FileEntry{rest, f.Mode, f.Hash})
			continue
		}
		entries = put(entries, Entry{Mode: f.Mode, Name: f.Path, Hash: f.Hash})
	}
	for name, files := range below {
		old, _ := Find(entries, name)
		if !old.IsTree() {
			old = Entry{}
		}
		hash, err := Replace(r, to, old.Hash, files)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if !hash.IsZero() || old.IsTree() {
			entries = put(entries, Entry{Mode: ModeTree, Name: name, Hash: hash})
		}
	}
	if len(entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	return to.Add(plumbing.TreeObject, Encode(entries)), nil
}

// put replaces the entry of equal name. If e has a zero hash, put removes the entry.
func put(entries []Entry, e Entry) []Entry {
	entries = slices.DeleteFunc(entries, func(old Entry) bool { return old.Name == e.Name })
	if e.Hash.IsZero() {
		return entries
	}
	return append(entries, e)
}
