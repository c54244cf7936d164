package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// A Storer gives the objects and refs of the repository to go-git, which then reads commits,
// trees and files with its own types. It is a storer.EncodedObjectStorer and a
// storer.ReferenceStorer. Writes are durable when they return, and refs move under git's locks
// with an entry in the reflog. Like the Store, it is used by one goroutine at a time.
type Storer struct {
	store *Store
	ctx   context.Context // of the git processes that methods start
}

var (
	_ storer.EncodedObjectStorer = (*Storer)(nil)
	_ storer.ReferenceStorer     = (*Storer)(nil)
)

// Storer returns the objects and refs of the repository for go-git. ctx ends the git processes
// that it starts.
func (s *Store) Storer(ctx context.Context) *Storer { return &Storer{s, ctx} }

// NewEncodedObject returns an empty object in memory.
func (s *Storer) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }

// SetEncodedObject writes an object to the database and returns its name.
func (s *Storer) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	r, err := o.Reader()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer r.Close()
	var content bytes.Buffer
	if _, err := content.ReadFrom(r); err != nil {
		return plumbing.ZeroHash, err
	}
	batch := s.store.repo.Objects.NewBatch()
	h := batch.Add(o.Type(), content.Bytes())
	if err := batch.Flush(); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write object %s: %w", h, err)
	}
	return h, nil
}

// EncodedObject returns an object. It fails with plumbing.ErrObjectNotFound if the object does
// not exist, or is of another type than t.
func (s *Storer) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	kind, content, err := s.store.repo.Objects.Read(h)
	if err != nil {
		return nil, err
	}
	if t != plumbing.AnyObject && t != kind {
		return nil, plumbing.ErrObjectNotFound
	}
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	_, err = o.Write(content)
	return o, err
}

// IterEncodedObjects returns all objects of a type, also those of alternates.
func (s *Storer) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	out, err := s.store.repo.Git.Output(s.ctx, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	var names []plumbing.Hash
	for line := range strings.Lines(string(out)) {
		name, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if t == plumbing.AnyObject || kind == t.String() {
			names = append(names, plumbing.NewHash(name))
		}
	}
	return storer.NewEncodedObjectLookupIter(s, t, names), nil
}

// HasEncodedObject returns plumbing.ErrObjectNotFound if an object does not exist.
func (s *Storer) HasEncodedObject(h plumbing.Hash) error {
	if !s.store.repo.Objects.Has(h) {
		return plumbing.ErrObjectNotFound
	}
	return nil
}

// EncodedObjectSize returns the size of an object's content in bytes.
func (s *Storer) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	return s.store.repo.Objects.Size(h)
}

// AddAlternate fails: git manages alternates.
func (s *Storer) AddAlternate(string) error {
	return errors.New("alternates are added to objects/info/alternates")
}

// Reference returns a ref. It fails with plumbing.ErrReferenceNotFound.
func (s *Storer) Reference(name plumbing.ReferenceName) (*plumbing.Reference, error) {
	if err := name.Validate(); err != nil {
		return nil, err
	}
	var err error
	if isShared(name) {
		var h plumbing.Hash
		if h, err = s.store.repo.ReadRef(s.ctx, name.String()); err == nil && !h.IsZero() {
			return plumbing.NewHashReference(name, h), nil
		}
	}
	if target, err := s.store.repo.Git.Line(s.ctx, "symbolic-ref", "-q", name.String()); err == nil && target != "" {
		return plumbing.NewSymbolicReference(name, plumbing.ReferenceName(target)), nil
	}
	if err != nil {
		return nil, err
	}
	text, err := s.store.repo.Git.Line(s.ctx, "rev-parse", "-q", "--verify", name.String())
	if err != nil || !plumbing.IsHash(text) {
		return nil, plumbing.ErrReferenceNotFound
	}
	return plumbing.NewHashReference(name, plumbing.NewHash(text)), nil
}

// isShared reports whether all worktrees of a repository share a ref.
func isShared(name plumbing.ReferenceName) bool {
	own := func(prefix string) bool { return strings.HasPrefix(name.String(), prefix) }
	return own("refs/") && !own("refs/bisect/") && !own("refs/worktree/") && !own("refs/rewritten/")
}

// IterReferences returns all refs and HEAD.
func (s *Storer) IterReferences() (storer.ReferenceIter, error) {
	out, err := s.store.repo.Git.Output(s.ctx, "for-each-ref", "--format=%(refname) %(objectname) %(symref)")
	if err != nil {
		return nil, err
	}
	var list []*plumbing.Reference
	if head, err := s.Reference(plumbing.HEAD); err == nil {
		list = append(list, head)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := plumbing.ReferenceName(fields[0])
		if len(fields) > 2 {
			list = append(list, plumbing.NewSymbolicReference(name, plumbing.ReferenceName(fields[2])))
			continue
		}
		list = append(list, plumbing.NewHashReference(name, plumbing.NewHash(fields[1])))
	}
	return storer.NewReferenceSliceIter(list), nil
}

// ErrRefMoved reports that another process moved a ref first.
var ErrRefMoved = repo.ErrRefMoved

// storerMessage is the message of reflog entries.
const storerMessage = "go-git: update"

// SetReference moves a ref to a new value, whatever its old value is.
func (s *Storer) SetReference(ref *plumbing.Reference) error {
	if err := ref.Name().Validate(); err != nil {
		return err
	}
	if ref.Type() == plumbing.SymbolicReference {
		_, err := s.store.repo.Git.Output(s.ctx, "symbolic-ref", "-m", storerMessage, ref.Name().String(), ref.Target().String())
		return err
	}
	for {
		old, err := s.store.repo.ReadRef(s.ctx, ref.Name().String())
		if err != nil {
			return err
		}
		if err := s.move(ref.Name(), old, ref.Hash()); !errors.Is(err, ErrRefMoved) {
			return err
		}
	}
}

// CheckAndSetReference moves a ref from a known value. It fails with ErrRefMoved if the ref has
// another value. An old ref of nil is SetReference.
func (s *Storer) CheckAndSetReference(ref, old *plumbing.Reference) error {
	if old == nil {
		return s.SetReference(ref)
	}
	if ref.Type() == plumbing.SymbolicReference || old.Type() == plumbing.SymbolicReference || ref.Name() != old.Name() {
		return fmt.Errorf("%s: a checked move needs two object names of one ref", ref.Name())
	}
	return s.move(ref.Name(), old.Hash(), ref.Hash())
}

// RemoveReference deletes a ref. A ref that does not exist is no error.
func (s *Storer) RemoveReference(name plumbing.ReferenceName) error {
	old, err := s.store.repo.ReadRef(s.ctx, name.String())
	if err != nil || old.IsZero() {
		return err
	}
	return s.move(name, old, plumbing.ZeroHash)
}

func (s *Storer) move(name plumbing.ReferenceName, from, to plumbing.Hash) error {
	if err := name.Validate(); err != nil {
		return err
	}
	if from == to {
		now, err := s.store.repo.ReadRef(s.ctx, name.String())
		if err == nil && now != to {
			err = ErrRefMoved
		}
		return err
	}
	return s.store.repo.MoveRefs(s.ctx, storerMessage, refs.Move{Name: name.String(), Old: from, New: to})
}

// CountLooseRefs returns the number of refs that have a file of their own.
func (s *Storer) CountLooseRefs() (n int, err error) {
	if s.store.repo.Info.RefFormat != "files" {
		return 0, nil
	}
	err = filepath.WalkDir(filepath.Join(s.store.repo.Info.CommonDir, "refs"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(name, ".lock") {
			n++
		}
		return fsutil.IgnoreMissing(err)
	})
	return n, err
}

// PackRefs packs all refs, as git pack-refs --all does.
func (s *Storer) PackRefs() error {
	_, err := s.store.repo.Git.Output(s.ctx, "pack-refs", "--all")
	return err
}
