package objects

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// IterEncodedObjects returns every object of a type, alternates included,
// each once, ordered by hash. Objects are read as the iteration reaches them.
func (s *Store) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	hashes, err := s.hashes()
	if err != nil {
		return nil, err
	}
	if t != plumbing.AnyObject {
		var failed error
		hashes = slices.DeleteFunc(hashes, func(h plumbing.Hash) bool {
			kind, _, err := s.Header(h)
			if err != nil && failed == nil {
				failed = err
			}
			return kind != t
		})
		if failed != nil {
			return nil, failed
		}
	}
	return storer.NewEncodedObjectLookupIter(s, t, hashes), nil
}

// hashes lists all objects of the store.
func (s *Store) hashes() ([]plumbing.Hash, error) {
	s.refresh()
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	var all []plumbing.Hash
	for _, src := range s.all() {
		for _, p := range src.list() {
			hashes, err := p.hashes()
			if err != nil && !gone(err) {
				return nil, err
			}
			all = append(all, hashes...)
		}
		loose, err := src.looseHashes()
		if err != nil {
			return nil, err
		}
		all = append(all, loose...)
	}
	slices.SortFunc(all, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(all), nil
}

func (p *pack) hashes() (hashes []plumbing.Hash, err error) {
	x, err := p.index()
	if err != nil {
		return nil, err
	}
	err = guard(func() error {
		for i := range x.count {
			hashes = append(hashes, x.hash(i))
		}
		return nil
	})
	return hashes, withPath(p.path+".idx", err)
}

// looseHashes lists the loose objects. A directory that is missing has none.
func (s *source) looseHashes() ([]plumbing.Hash, error) {
	var hashes []plumbing.Hash
	for i := range 256 {
		first := fmt.Sprintf("%02x", i)
		names, err := readNames(filepath.Join(s.dir, first))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, name := range names {
			var h plumbing.Hash
			if len(name) != 2*hashLen-2 {
				continue
			}
			if _, err := hex.Decode(h[:], []byte(first+name)); err == nil {
				hashes = append(hashes, h)
			}
		}
	}
	return hashes, nil
}
