package trees

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A FileEntry is a tree file with slash-separated path.
type FileEntry struct {
	Path string
	Mode uint32
	Hash plumbing.Hash
}

// An Adder stores objects and returns their hashes.
type Adder interface {
	Add(plumbing.ObjectType, []byte) plumbing.Hash
}

// Build stores the tree of files with all subtrees and returns its hash, zero if files is
// empty.
func Build(to Adder, files []FileEntry) plumbing.Hash {
	if len(files) == 0 {
		return plumbing.ZeroHash
	}
	var entries []Entry
	below := map[string][]FileEntry{}
	var dirs []string
	for _, f := range files {
		name, rest, deeper := strings.Cut(f.Path, "/")
		if !deeper {
			entries = append(entries, Entry{Mode: f.Mode, Name: name, Hash: f.Hash})
			continue
		}
		if below[name] == nil {
			dirs = append(dirs, name)
		}
		below[name] = append(below[name], FileEntry{rest, f.Mode, f.Hash})
	}
	for _, name := range dirs {
		entries = append(entries, Entry{Mode: ModeTree, Name: name, Hash: Build(to, below[name])})
	}
	return to.Add(plumbing.TreeObject, Encode(entries))
}
