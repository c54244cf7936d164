package objects

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

var _ storer.EncodedObjectStorer = (*Store)(nil)

// stored object: what EncodedObject returns. It knows its hash, so that
// decoding it does not compute it again.
type encoded struct {
	hash    plumbing.Hash
	kind    plumbing.ObjectType
	content []byte
}

func (e *encoded) Hash() plumbing.Hash       { return e.hash }
func (e *encoded) Type() plumbing.ObjectType { return e.kind }
func (e *encoded) Size() int64               { return int64(len(e.content)) }
func (e *encoded) Reader() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(e.content)), nil
}
func (e *encoded) SetType(plumbing.ObjectType)     {}
func (e *encoded) SetSize(int64)                   {}
func (e *encoded) Writer() (io.WriteCloser, error) { return nil, errReadOnly }

var errReadOnly = errors.New("object of the store cannot be changed")

// NewEncodedObject returns an empty object in memory, for SetEncodedObject.
func (s *Store) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }

// SetEncodedObject makes one object durable. For several a Batch is faster.
func (s *Store) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	switch o.Type() {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	default:
		return plumbing.ZeroHash, plumbing.ErrInvalidType
	}
	r, err := o.Reader()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	b := s.NewBatch()
	h := b.Add(o.Type(), content)
	return h, b.Flush()
}

// EncodedObject returns an object of the given type, or of any type for
// plumbing.AnyObject, or plumbing.ErrObjectNotFound.
func (s *Store) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	kind, content, err := s.Read(h)
	if err != nil {
		return nil, err
	}
	if t != plumbing.AnyObject && t != kind {
		return nil, plumbing.ErrObjectNotFound
	}
	return &encoded{h, kind, content}, nil
}

// HasEncodedObject returns nil or plumbing.ErrObjectNotFound.
func (s *Store) HasEncodedObject(h plumbing.Hash) error {
	if s.Has(h) {
		return nil
	}
	return plumbing.ErrObjectNotFound
}

// EncodedObjectSize returns the size of an object's content.
func (s *Store) EncodedObjectSize(h plumbing.Hash) (int64, error) { return s.Size(h) }

// AddAlternate is not supported: what a repository borrows from is for git
// and its user to say.
func (s *Store) AddAlternate(string) error {
	return errors.New("add alternate: not supported by this store")
}
