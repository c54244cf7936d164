package odb

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrHash is the error about an object whose content has another hash.
var ErrHash = errors.New("its content has another hash")

// Check reads an object of any size and compares its content with its hash. It never fetches: an
// object that a partial clone lacks is missing.
func (s *Database) Check(h plumbing.Hash) error {
	loose := withLoose(s.loosePath(h), func(l *looseReader) error {
		kind, size, err := l.head()
		if err == nil {
			err = compare(l.out, kind, size, h)
		}
		if err == nil {
			err = l.end()
		}
		return err
	})
	if loose == nil {
		return nil
	}
	var other error
	err := s.cat.exchange(forContents, h, func(out *bufio.Reader) error {
		a, err := readHeader(out, h)
		if err != nil {
			return err
		}
		if other = compare(out, a.kind, a.size, h); other != nil && !errors.Is(other, ErrHash) {
			return other
		}
		_, err = out.Discard(1)
		return err
	})
	switch {
	case err == nil:
		return other
	case !gone(loose):
		return loose
	}
	return err
}

// compare reads the content of an object and compares it with the hash of the object.
func compare(r io.Reader, kind plumbing.ObjectType, size int64, h plumbing.Hash) error {
	sum := plumbing.NewHasher(kind, size)
	if _, err := io.CopyN(sum, r, size); err != nil {
		return unexpected(err)
	}
	if sum.Sum() != h {
		return ErrHash
	}
	return nil
}

// A held is a cache of commits and trees, see Hold.
type held struct {
	mu      sync.Mutex
	objects map[plumbing.Hash]heldObject // nil outside of Hold
}

type heldObject struct {
	kind    plumbing.ObjectType
	content []byte
}

// Hold makes reads compare objects with their hashes, and keep commits and trees, until the next
// Hold. Hold(false) ends it.
func (s *Database) Hold(on bool) {
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	s.held.objects = nil
	if on {
		s.held.objects = map[plumbing.Hash]heldObject{}
	}
}

func (k *held) get(h plumbing.Hash) (heldObject, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, found := k.objects[h]
	return o, found
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
		k.objects[h] = heldObject{kind, bytes.Clone(content)}
	}
	return nil
}
