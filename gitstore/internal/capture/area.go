package capture

import (
	"fmt"

	"git-checkpoint/gitstore/internal/index"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// An Area is the content of the index, compared with HEAD.
type Area struct {
	HeadTree    plumbing.Hash
	Staged      plumbing.Hash // tree of stage 0
	Conflicts   []index.Entry // entries of stages 1 to 3
	IntentToAdd []string
	Changes     []trees.Change // staged changes against HEAD
	Size        int64          // total size of staged blobs that differ from HEAD, in bytes

	made   []plumbing.Hash // trees built from the index, possibly not stored yet
	drafts map[plumbing.Hash][]byte
	others []plumbing.Hash // trees written by git that HEAD lacks
}

// An ObjectReader reads objects of the repository.
type ObjectReader interface {
	trees.Reader
	index.Objects
	Size(plumbing.Hash) (int64, error)
}

// ReadArea reads the index. It writes no objects.
func ReadArea(x *index.Index, headTree plumbing.Hash, stored ObjectReader) (*Area, error) {
	a := &Area{HeadTree: headTree, drafts: map[plumbing.Hash][]byte{}}
	heads := &memo{stored, map[plumbing.Hash][]byte{}}
	x.Base = index.Base{Tree: headTree, Read: heads.tree}
	var err error
	d := &draft{a, stored}
	if a.Staged, err = x.WriteTree(d, d); err != nil {
		return nil, err
	}
	a.Conflicts, a.IntentToAdd = x.Special()
	note := func(h plumbing.Hash) { a.others = append(a.others, h) }
	if a.Changes, err = trees.DiffBetween(heads, &reader{a, stored, note}, headTree, a.Staged); err != nil {
		return nil, err
	}
	return a, a.measure(stored)
}

// measure computes the total size of staged blobs that differ from HEAD.
func (a *Area) measure(stored ObjectReader) error {
	for _, c := range a.Changes {
		if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink {
			continue
		}
		size, err := stored.Size(c.New.Hash)
		if err != nil {
			return fmt.Errorf("staged file %q: %w", c.Path, err)
		}
		a.Size += size
	}
	return nil
}

// A memo caches trees, because HEAD's trees are read twice.
type memo struct {
	r    trees.Reader
	seen map[plumbing.Hash][]byte
}

func (m *memo) Read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if data, ok := m.seen[h]; ok {
		return plumbing.TreeObject, data, nil
	}
	kind, data, err := m.r.Read(h)
	if err == nil && kind == plumbing.TreeObject {
		m.seen[h] = data
	}
	return kind, data, err
}

func (m *memo) tree(h plumbing.Hash) ([]byte, error) { return trees.ReadAs(m, plumbing.TreeObject, h) }

// A draft collects trees built from the index, in addition to stored objects.
type draft struct {
	a      *Area
	stored index.Objects
}

func (d *draft) Add(kind plumbing.ObjectType, data []byte) plumbing.Hash {
	hash := odb.Name(kind, data)
	if _, known := d.a.drafts[hash]; !known {
		d.a.drafts[hash], d.a.made = data, append(d.a.made, hash)
	}
	return hash
}

func (d *draft) Has(h plumbing.Hash) bool {
	_, made := d.a.drafts[h]
	return made || d.stored.Has(h)
}

// A reader reads draft and stored trees. It calls tell for each stored tree, because git
// may have written the tree for the index only, without another reference.
type reader struct {
	a      *Area
	stored trees.Reader
	tell   func(plumbing.Hash)
}

func (r *reader) Read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if data, made := r.a.drafts[h]; made {
		return plumbing.TreeObject, data, nil
	}
	r.tell(h)
	return r.stored.Read(h)
}
