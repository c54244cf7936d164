package odb

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// A found is a possible location of an object: in a pack, or loose if pack is nil.
type found struct {
	hash plumbing.Hash
	src  *source
	pack *pack
	off  int64
}

// lookup calls try with each location of an object until a call returns nil, so that a
// damaged copy does not hide an intact copy. Like git, lookup searches packs before loose
// objects. If no location works, lookup lists the packs again, because a concurrent
// repack may have moved the object.
func (s *Database) lookup(h plumbing.Hash, try func(found) error) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return ErrClosed
	}
	l := lookup{hash: h, try: try}
	if p := s.recent.Load(); p != nil && l.inPack(nil, p) {
		return nil
	}
	sources := s.all()
	if l.in(s, sources) {
		return nil
	}
	moved := false
	for _, src := range sources {
		moved = src.rescan(l.err != nil) || moved
	}
	if moved {
		s.recent.Store(nil) // this pack may be among those removed
		if l.in(s, sources) {
			return nil
		}
	}
	if l.err != nil {
		return fmt.Errorf("object %s: %w", h, l.err)
	}
	return plumbing.ErrObjectNotFound
}

// A lookup is one search. It records the first error.
type lookup struct {
	hash plumbing.Hash
	try  func(found) error
	err  error
}

func (l *lookup) in(s *Database, sources []*source) bool {
	for _, src := range sources {
		for _, p := range src.list() {
			if l.inPack(src, p) {
				s.recent.Store(p)
				return true
			}
		}
	}
	for _, src := range sources {
		if l.attempt(found{hash: l.hash, src: src}) {
			return true
		}
	}
	return false
}

func (l *lookup) inPack(src *source, p *pack) bool {
	off, ok, err := p.find(l.hash)
	if err != nil {
		l.note(err)
		return false
	}
	return ok && l.attempt(found{hash: l.hash, src: src, pack: p, off: off})
}

func (l *lookup) attempt(f found) bool {
	err := l.try(f)
	l.note(err)
	return err == nil
}

// note records an error. It ignores missing files: the object has moved or does not
// exist, and the search finds out.
func (l *lookup) note(err error) {
	if l.err == nil && err != nil && !gone(err) {
		l.err = err
	}
}

func (f found) read(c *baseCache) (t plumbing.ObjectType, content []byte, err error) {
	if f.pack == nil {
		return readLoose(f.src.loosePath(f.hash))
	}
	err = f.inPack(func(r packReader) (err error) {
		t, content, err = r.read(f.off, c)
		return err
	})
	return t, content, err
}

func (f found) header() (t plumbing.ObjectType, size int64, err error) {
	if f.pack == nil {
		return headLoose(f.src.loosePath(f.hash))
	}
	err = f.inPack(func(r packReader) (err error) {
		t, size, err = r.header(f.off)
		return err
	})
	return t, size, err
}

// inPack opens the pack and calls do.
func (f found) inPack(do func(packReader) error) error {
	r, err := f.pack.reader()
	if err != nil {
		return err
	}
	return withPath(f.pack.path+".pack", guard(func() error { return do(r) }))
}

// exists checks that the object file exists. An empty loose file, a remnant of a crash,
// counts as missing.
func (f found) exists() error {
	if f.pack != nil {
		return nil
	}
	return statLoose(f.src.loosePath(f.hash))
}
