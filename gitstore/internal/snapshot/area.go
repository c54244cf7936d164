package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/index"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/repo"
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

	sizes  map[string]int64 // of these blobs, by path
	made   []plumbing.Hash  // trees built from the index, possibly not stored yet
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
	a := &Area{HeadTree: headTree, drafts: map[plumbing.Hash][]byte{}, sizes: map[string]int64{}}
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
	for _, c := range a.Changes {
		if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink {
			continue
		}
		size, err := stored.Size(c.New.Hash)
		if err != nil {
			return nil, fmt.Errorf("staged file %q: %w", c.Path, err)
		}
		a.sizes[c.Path] = size
		a.Size += size
	}
	return a, nil
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

// A StagedState holds HEAD and the index.
type StagedState struct {
	head  repo.Head
	stamp indexStamp // of the index, taken before it was read
	*Area
}

// PrefetchIndex reads the index of the discovered repository, while git reads its
// configuration. It ignores errors: Save repeats the read and reports them.
func PrefetchIndex(ctx context.Context, g git.Git, guess repository.Info) <-chan *StagedState {
	done := make(chan *StagedState, 1)
	go func() {
		var a *StagedState
		s, err := repo.OpenGuessed(g, guess)
		if err == nil {
			a, err = New(s, chain.New(s), nil).readStagedState(ctx)
			s.Objects.Close()
		}
		if err != nil {
			a = nil
		}
		done <- a
	}()
	return done
}

func (s *Capturer) readStagedState(ctx context.Context) (*StagedState, error) {
	stamp := stampOf(s.repo.Info.Index)
	now, err := s.repo.ReadHead(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := s.repo.TreeOf(now)
	if err != nil {
		return nil, err
	}
	x, done, err := s.OpenIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	a, err := ReadArea(x, tree, s.repo.Objects)
	return &StagedState{now, stamp, a}, err
}

// OpenIndex reads the index. If its format is unsupported, git makes a supported copy.
func (s *Capturer) OpenIndex(ctx context.Context) (*index.Index, func(), error) {
	x, err := index.Open(s.repo.Info.Index)
	done := func() { x.Close() }
	if errors.Is(err, index.ErrUnsupported) {
		run := func(ctx context.Context, env []string, args ...string) ([]byte, error) {
			return s.repo.Git.With(env...).Output(ctx, args...)
		}
		x, done, err = index.Plain(ctx, run, s.repo.Info.Index, s.repo.Info.Dir)
	}
	if err != nil {
		return nil, nil, err
	}
	if x.Partial = repository.Partial(s.repo.Config); x.Partial {
		x.Fetch = func(missing plumbing.Hash) error {
			if conflicts, _ := x.Special(); len(conflicts) > 0 { // git write-tree would fail
				_, _, err := s.repo.Objects.Read(missing)
				return err
			}
			return index.FetchMissing(ctx, s.repo.FetchPromised, s.repo.Info.Index, s.repo.Info.Dir)
		}
	}
	return x, done, nil
}

// LeaveOut removes the largest staged files until the total size is within a limit in
// bytes, and returns them. The staged tree then contains HEAD's version of these files,
// so that a restore does not change them. A limit of 0 or less means no limit.
func (a *Area) LeaveOut(limit int64, stored ObjectReader) ([]checkpoint.Skipped, error) {
	if limit <= 0 || a.Size <= limit {
		return nil, nil
	}
	large := slices.Clone(a.Changes)
	slices.SortStableFunc(large, func(x, y trees.Change) int { return cmp.Compare(a.sizes[y.Path], a.sizes[x.Path]) })
	var left []checkpoint.Skipped
	var back []trees.FileEntry
	out := map[string]bool{}
	for _, f := range large {
		if a.Size <= limit {
			break
		}
		a.Size -= a.sizes[f.Path]
		out[f.Path] = true
		left = append(left, checkpoint.Skipped{Path: f.Path, Size: a.sizes[f.Path], Reason: checkpoint.OverSize, Class: checkpoint.InIndex})
		back = append(back, trees.FileEntry{Path: f.Path, Mode: f.Old.Mode, Hash: f.Old.Hash})
	}
	d := &draft{a, stored}
	var err error
	a.Staged, err = trees.Replace(&reader{a, stored, func(plumbing.Hash) {}}, d, a.Staged, back)
	if err != nil {
		return nil, fmt.Errorf("leave out staged files: %w", err)
	}
	if a.Staged.IsZero() {
		a.Staged = d.Add(plumbing.TreeObject, nil)
	}
	a.Changes = slices.DeleteFunc(a.Changes, func(c trees.Change) bool { return out[c.Path] })
	return left, nil
}
