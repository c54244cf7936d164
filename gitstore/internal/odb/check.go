package odb

import (
	"context"
	"errors"
	"io"

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

// Hold makes reads compare objects with their hashes, and keep commits and trees, until the next
// Hold. Hold(false) ends it.
func (s *Database) Hold(on bool) {
	s.kept.Clear()
	s.isHeld.Store(on)
}

// maxKept limits the bytes of the objects that a Database keeps.
const maxKept = 64 << 20

// keep makes later reads of an object wait for no answer.
func (s *Database) keep(h plumbing.Hash, a answer) {
	if s.keptSize.Add(a.size) > maxKept {
		s.kept.Clear()
		s.keptSize.Store(a.size)
	}
	s.kept.Store(h, a)
}
