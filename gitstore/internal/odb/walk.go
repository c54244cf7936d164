package odb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"git-checkpoint/gitstore/internal/git"

	"github.com/go-git/go-git/v5/plumbing"
)

// An Object is the result of a Walk for one object.
type Object struct {
	Hash    plumbing.Hash
	Kind    plumbing.ObjectType
	Size    int64
	Content []byte // nil for a blob above maxHeld and after an error
	Err     error  // the object is missing or damaged, or its content has another hash
}

// maxHeld is the maximum size of a blob whose content a Walk keeps.
const maxHeld = 1 << 20

// ErrHash is the error about an object whose content has another hash.
var ErrHash = errors.New("its content has another hash")

// Walk reads objects in one git cat-file and compares each content with its hash. It calls got for
// each object. got returns further objects to read; the caller names each object once. Git answers in
// order and does not wait for a question, so many small objects take little time. Walk never fetches:
// objects that a partial clone lacks are missing.
//
// A walk of our own replaces git rev-list --objects, which ends at the first damaged object.
func (s *Database) Walk(ctx context.Context, ask []plumbing.Hash, got func(*Object) []plumbing.Hash) error {
	return s.walk(ctx, &walk{store: s, about: forContents, queue: ask, got: got})
}

// Missing returns which of some objects are not in the database, without a look at their contents.
func (s *Database) Missing(ctx context.Context, hashes []plumbing.Hash) (map[plumbing.Hash]bool, error) {
	missing := map[plumbing.Hash]bool{}
	err := s.walk(ctx, &walk{store: s, about: forInfo, queue: hashes, got: func(o *Object) []plumbing.Hash {
		if o.Err == plumbing.ErrObjectNotFound {
			missing[o.Hash] = true
		}
		return nil
	}})
	return missing, err
}

func (s *Database) walk(ctx context.Context, w *walk) error {
	s.walking.Lock()
	defer s.walking.Unlock()
	for w.answered < len(w.queue) {
		if err := w.run(ctx); err != nil {
			return fmt.Errorf("read objects: %w", err)
		}
	}
	return nil
}

// A walk is the state of a Walk or of Missing.
type walk struct {
	store    *Database
	about    question
	got      func(*Object) []plumbing.Hash
	mu       sync.Mutex // for the queue
	queue    []plumbing.Hash
	answered int
}

// run reads answers of git. Git ends at a damaged object. If git had answered before, run leaves that
// object to the next git: a signal or a lack of memory may have ended this one.
func (w *walk) run(ctx context.Context) error {
	t, err := w.store.cat.stream(w.about)
	if err != nil {
		return err
	}
	more, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		w.askAll(t, w.answered, more)
	}()
	start := w.answered
	failed := ctx.Err()
	for failed == nil && w.answered < len(w.queue) {
		o := &Object{Hash: w.queue[w.answered]}
		if failed = cmp.Or(o.read(t, w.about), ctx.Err()); failed == nil {
			if o.Err == plumbing.ErrObjectNotFound && statLoose(w.store.loosePath(o.Hash)) == nil { // a damaged header
				_, _, o.Err = w.store.Read(o.Hash)
			}
			w.answer(o, more)
		}
	}
	var ended error
	if failed != nil {
		ended = w.store.cat.endStream(t)
	}
	close(more)
	<-done
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed == nil || w.answered > start:
		return nil
	case git.Code(ended) <= 0:
		return failed
	}
	o := &Object{Hash: w.queue[w.answered], Err: plumbing.ErrObjectNotFound}
	if !isPromised(ended) {
		_, _, o.Err = w.store.Read(o.Hash) // names the file
		o.Err = cmp.Or(o.Err, ended)
	}
	w.answer(o, nil)
	return nil
}

// answer passes an object to got and adds the objects that got returns to the queue.
func (w *walk) answer(o *Object, more chan<- struct{}) {
	next := w.got(o)
	w.answered++
	if len(next) == 0 {
		return
	}
	w.mu.Lock()
	w.queue = append(w.queue, next...)
	w.mu.Unlock()
	select {
	case more <- struct{}{}:
	default:
	}
}

// askAll writes the questions of the queue, until more is closed or git has ended.
func (w *walk) askAll(t *talk, from int, more <-chan struct{}) {
	for open := true; open; _, open = <-more {
		w.mu.Lock()
		some := w.queue[from:]
		from = len(w.queue)
		w.mu.Unlock()
		var text strings.Builder
		for _, h := range some {
			text.WriteString(h.String() + "\n")
		}
		if _, err := io.WriteString(t.run, text.String()); err != nil {
			return
		}
	}
}

// read reads the answer about an object.
func (o *Object) read(t *talk, about question) error {
	a, err := readHeader(t.out, o.Hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		o.Err = err
		return nil
	}
	if err != nil {
		return err
	}
	if o.Kind, o.Size = a.kind, a.size; about == forInfo {
		return nil
	}
	h := plumbing.NewHasher(a.kind, a.size)
	if o.Kind == plumbing.BlobObject && o.Size > maxHeld || o.Size > mostOf(o.Kind) {
		_, err = io.CopyN(h, t.out, o.Size)
	} else {
		var content bytes.Buffer
		_, err = io.CopyN(io.MultiWriter(&content, h), t.out, o.Size)
		o.Content = content.Bytes()
	}
	if err == nil {
		_, err = t.out.Discard(1)
	}
	switch {
	case err != nil:
		return unexpected(err)
	case h.Sum() != o.Hash:
		o.Content, o.Err = nil, ErrHash
	case o.Kind != plumbing.BlobObject && o.Content == nil && o.Size > 0:
		o.Err = ErrTooLarge
	}
	return nil
}

// A held is a cache of objects, see Hold.
type held struct {
	mu      sync.Mutex
	objects map[plumbing.Hash]*Object
}

// Hold makes later reads return these objects, and keep the commits and trees that they read, until
// the next Hold. nil ends it.
func (s *Database) Hold(objects map[plumbing.Hash]*Object) {
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	s.held.objects = objects
}

// get returns a held object, or nil.
func (k *held) get(h plumbing.Hash) *Object {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.objects[h]
}

// put holds a commit or a tree that was read.
func (k *held) put(h plumbing.Hash, kind plumbing.ObjectType, content []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.objects == nil || kind == plumbing.BlobObject {
		return
	}
	o := &Object{Hash: h, Kind: kind, Size: int64(len(content)), Content: bytes.Clone(content)}
	if plumbing.ComputeHash(kind, content) != h {
		o.Content, o.Err = nil, ErrHash
	}
	k.objects[h] = o
}
