package index

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// ConflictTrees returns a tree for each stage that unmerged paths have: 1 for
// what both sides began with, 2 for ours, 3 for theirs. Without a conflict
// there is none. Content is asked for as in WriteTree.
func (x *Index) ConflictTrees(have Objects, out Trees) (map[int]plumbing.Hash, error) {
	trees := map[int]plumbing.Hash{}
	for stage := 1; stage <= 3; stage++ {
		hash, n, err := x.stageTree(stage, have, out)
		if err != nil {
			return nil, fmt.Errorf("write conflict tree %d: %s: %w", stage, x.path, err)
		}
		if n > 0 {
			trees[stage] = hash
		}
	}
	return trees, nil
}

// stageTree builds the tree of the n entries of one stage.
func (x *Index) stageTree(stage int, have Objects, out Trees) (_ plumbing.Hash, n int, err error) {
	b := newBuilder(out, none, x.most(), baseDir{})
	for _, e := range x.unmerged {
		if e.Stage != stage {
			continue
		}
		n++
		if e.Mode == filemode.Dir || modeText(e.Mode) == "" {
			return plumbing.ZeroHash, 0, fmt.Errorf("%q: mode %o is none of a file", e.Path, uint32(e.Mode))
		}
		if e.Mode != filemode.Submodule && !have.Has(e.Hash) {
			return plumbing.ZeroHash, 0, &MissingError{e.Path, e.Hash}
		}
		if err := b.add(e); err != nil {
			return plumbing.ZeroHash, 0, err
		}
	}
	if n == 0 {
		return plumbing.ZeroHash, 0, nil
	}
	return b.finish(), n, nil
}

// add adds an entry without looking at a cache-tree.
func (b *builder) add(e Entry) error {
	path := []byte(e.Path)
	if err := b.move(path); err != nil {
		return err
	}
	for {
		end, isDir, err := b.component(path)
		if err != nil {
			return err
		}
		if !isDir {
			b.file(e.Mode, e.Hash)
			return nil
		}
		b.open(end, none, baseDir{})
	}
}
