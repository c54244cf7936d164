package odb

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

// ErrHash is the error about an object whose content has another hash.
var ErrHash = errors.New("its content has another hash")

// Check reads an object of any size and compares its content with its hash. It never fetches: an
// object that a partial clone lacks is missing.
func (s *Database) Check(h plumbing.Hash) error {
	_, _, loose := withLoose(s.loosePath(h), func(r *objfile.Reader, _ plumbing.ObjectType, size int64) error {
		if _, err := io.CopyN(io.Discard, r, size); err != nil {
			return unexpected(err)
		}
		if r.Hash() != h {
			return ErrHash
		}
		return nil
	})
	if loose == nil {
		return nil
	}
	a, err := s.cat.ask(forContents, h)
	sum := plumbing.NewHasher(a.kind, a.size)
	if errors.Is(err, ErrTooLarge) {
		err = s.cat.git.Filter(context.Background(), nil, sum, "cat-file", a.kind.String(), h.String())
	} else {
		_, _ = sum.Write(a.content)
	}
	switch {
	case err == nil && sum.Sum() != h:
		return ErrHash
	case err != nil && !gone(loose):
		return loose
	}
	return err
}

// A held is a cache of commits and trees, see Hold.
type held struct {
	mu      sync.Mutex
	objects map[plumbing.Hash]*added // nil outside of Hold
}

// Hold makes reads compare objects with their hashes, and keep commits and trees, until the next
// Hold. Hold(false) ends it.
func (s *Database) Hold(on bool) {
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	s.held.objects = nil
	if on {
		s.held.objects = map[plumbing.Hash]*added{}
	}
}

// get returns a held object, or nil.
func (k *held) get(h plumbing.Hash) *added {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.objects[h]
}

// put compares an object that was read with its hash, and holds a commit or a tree.
func (k *held) put(h plumbing.Hash, kind plumbing.ObjectType, content []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.objects == nil:
		return nil
	case plumbing.ComputeHash(kind, content) != h:
		return ErrHash
	case kind != plumbing.BlobObject:
		k.objects[h] = &added{h, kind, bytes.Clone(content)}
	}
	return nil
}
