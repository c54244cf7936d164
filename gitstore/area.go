package gitstore

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/gitcmd"
	"git-checkpoint/gitstore/index"
	"git-checkpoint/gitstore/objects"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// An area is what HEAD and the staging area hold.
type area struct {
	head        head
	headTree    plumbing.Hash
	staged      plumbing.Hash // stage 0 as a tree
	made        []object      // its directories that may not be stored yet
	conflicts   []index.Entry // stages 1 to 3
	intentToAdd []string
	changes     []trees.Change  // staged against HEAD
	trees       []plumbing.Hash // of directories that HEAD does not have, and that git made
	size        int64           // of the blobs that HEAD does not have
}

// stagingArea reads HEAD and the staging area, unless Open did so already.
func (s *Store) stagingArea(ctx context.Context) (*area, error) {
	if s.early != nil {
		a := <-s.early
		s.early = nil
		if a != nil {
			return a, nil
		}
	}
	return s.readArea(ctx)
}

// readEarly reads the area of a repository that was guessed, while git is
// asked for its settings. What fails is done again, and told of, by Save.
func readEarly(ctx context.Context, g gitcmd.Git, guessed repository) <-chan *area {
	done := make(chan *area, 1)
	go func() {
		guessed.refFormat = "files"
		s := &Store{git: g, repo: guessed}
		var a *area
		store, err := objects.Open(objects.Config{Dir: guessed.objectDir, Alternates: alternates()})
		if err == nil {
			s.objects = store
			a, err = s.readArea(ctx)
			store.Close()
		}
		if err != nil {
			a = nil
		}
		done <- a
	}()
	return done
}

func (s *Store) readArea(ctx context.Context) (*area, error) {
	a := &area{}
	var err error
	if a.head, err = s.readHead(ctx); err != nil {
		return nil, err
	}
	if !a.head.commit.IsZero() {
		commit, err := s.readCommit(a.head.commit)
		if err != nil {
			return nil, fmt.Errorf("read HEAD: %w", err)
		}
		a.headTree = commit.tree
	}
	x, done, err := s.openIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	k, heads := s.newSink(), &memo{s.objects, map[plumbing.Hash][]byte{}}
	x.Base = index.Base{Tree: a.headTree, Read: heads.tree}
	if a.staged, err = x.WriteTree(k, &maker{k, a}); err != nil {
		return nil, err
	}
	a.conflicts, a.intentToAdd = x.Special()
	if a.changes, err = trees.DiffBetween(heads, &noter{k, a}, a.headTree, a.staged); err != nil {
		return nil, err
	}
	return a, s.measure(a)
}

// A memo remembers the trees that are read through it: HEAD's are looked at
// twice.
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

// A noter takes note of the trees that are read through it and were not made
// here.
type noter struct {
	k *sink
	a *area
}

func (n *noter) Read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if _, made := n.k.added[h]; !made {
		n.a.trees = append(n.a.trees, h)
	}
	return n.k.Read(h)
}

// A maker takes note of the trees that are made of the staging area.
type maker struct {
	k *sink
	a *area
}

func (m *maker) Add(kind plumbing.ObjectType, data []byte) plumbing.Hash {
	m.a.made = append(m.a.made, object{kind, data})
	return m.k.Add(kind, data)
}

// measure adds up what is staged and not in HEAD.
func (s *Store) measure(a *area) error {
	for _, c := range a.changes {
		if c.New.Hash.IsZero() || c.New.Mode == trees.ModeGitlink {
			continue
		}
		size, err := s.objects.Size(c.New.Hash)
		if err != nil {
			return fmt.Errorf("staged file %q: %w", c.Path, err)
		}
		a.size += size
	}
	return nil
}

// openIndex reads the staging area, through a copy that git makes where it is
// stored in a way that this program does not read.
func (s *Store) openIndex(ctx context.Context) (*index.Index, func(), error) {
	x, err := index.Open(s.repo.index)
	done := func() { x.Close() }
	if errors.Is(err, index.ErrUnsupported) {
		run := func(ctx context.Context, env []string, args ...string) ([]byte, error) {
			return s.git.With(env...).Output(ctx, args...)
		}
		x, done, err = index.Plain(ctx, run, s.repo.index, s.repo.dir)
	}
	if err != nil {
		return nil, nil, err
	}
	x.Partial = s.partial()
	return x, done, nil
}
