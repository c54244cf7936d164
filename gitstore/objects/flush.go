package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Flush makes the added objects durable: when it returns nil they survive a
// loss of power. An object that exists is freshened, so that a gc that is
// running leaves it alone; one that is missing or damaged is written. When
// Flush fails, what it has begun is taken back, and nothing but whole objects
// is ever seen under an object's name. It may be called again.
func (b *Batch) Flush() error {
	settle, err := b.Install()
	if err != nil {
		return err
	}
	return settle()
}

// Install does all of Flush but the last step, and returns that: the objects
// can be read, but their names, and in an ordered journal their contents, are
// not durable yet. The contents of the files beside the objects are brought as
// far as theirs.
func (b *Batch) Install(beside ...*os.File) (settle func() error, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.store.newFlush()
	f.beside, f.others = beside, b.others
	write, err := f.keep(b.kept)
	if err != nil {
		return nil, err
	}
	for _, o := range b.objects {
		if !f.freshen(o.hash, o) {
			write = append(write, o)
		}
	}
	if err := f.write(write); err != nil {
		return nil, err
	}
	return f.syncDirs, nil
}

// flush is the work of one Flush.
type flush struct {
	store  *Database
	packs  map[string]bool // whether touching the pack worked
	loose  []string        // existing files to sync
	beside []*os.File      // files of others to sync
	others []string        // existing files of others to sync, with their names
	temps  []*temp
	dirs   map[string]bool // whose names are to be synced
	z      compressor

	last string // the file that was touched last, or the directory that got a name
}

func (s *Database) newFlush() *flush {
	return &flush{store: s, packs: make(map[string]bool), dirs: make(map[string]bool)}
}

// atOnce bounds the files that are open at the same time.
const atOnce = 128

// keep freshens what must last and returns what has to be written for that:
// an object that lies where it cannot be touched, or in a cruft pack.
func (f *flush) keep(hashes []plumbing.Hash) (write []*added, err error) {
	for _, h := range hashes {
		if f.freshen(h, nil) {
			continue
		}
		t, content, err := f.store.Read(h)
		if err != nil {
			return nil, fmt.Errorf("keep object %s: %w", h, err)
		}
		write = append(write, &added{h, t, content})
	}
	return write, nil
}

// freshen gives one copy of an object a new time and reports whether that
// worked. A loose copy must have the content of o, if o is given.
func (f *flush) freshen(h plumbing.Hash, o *added) bool {
	return f.store.lookup(h, func(at found) error {
		if at.pack != nil {
			return f.freshenPack(at.pack.path)
		}
		path := at.src.loosePath(h)
		if err := sameLoose(path, o); err != nil {
			return err
		}
		if err := touch(path); err != nil {
			return err
		}
		f.loose = append(f.loose, path)
		f.dirs[filepath.Dir(path)] = true
		return nil
	}) == nil
}

var errStale = errors.New("cannot be freshened")

// freshenPack touches a pack once. The time of a cruft pack says nothing
// about its objects, so those count as missing, as they do for git.
func (f *flush) freshenPack(path string) error {
	done, known := f.packs[path]
	if !known {
		_, err := os.Stat(path + ".mtimes")
		done = gone(err) && touch(path+".pack") == nil
		f.packs[path] = done
	}
	if !done {
		return errStale
	}
	return nil
}

func touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// sameLoose checks that a loose file holds the object o, or, without o, that
// it can be read.
func sameLoose(path string, o *added) error {
	if o == nil {
		_, _, err := headLoose(path)
		return err
	}
	t, content, err := readLoose(path)
	if err != nil {
		return err
	}
	if t != o.kind || !bytes.Equal(content, o.content) {
		return errStale
	}
	return nil
}

// write makes loose files of the objects. Everything in a step is done before
// the next begins: the contents under temporary names, their sync, the final
// names, the sync of the directories.
func (f *flush) write(objects []*added) error {
	defer f.discard()
	for some := range slices.Chunk(objects, atOnce) {
		if err := f.install(some); err != nil {
			return err
		}
	}
	return f.sync()
}

// install does all but the last step for some objects.
func (f *flush) install(objects []*added) error {
	for _, o := range objects {
		t, err := f.stage(o)
		if err != nil {
			return writeError(o, f.store.loosePath(o.hash), err)
		}
		f.temps = append(f.temps, t)
	}
	if err := f.sync(); err != nil {
		return err
	}
	for _, t := range f.temps {
		if err := f.place(t); err != nil {
			return writeError(t.added, t.final, err)
		}
		f.done("name", t.final)
		f.last = filepath.Dir(t.final)
		f.dirs[f.last] = true
	}
	f.temps = f.temps[:0]
	return nil
}

// collections is how many gc in a row may take away what is being written.
const collections = 20

// place gives a file that is ready its name. A gc that prunes everything takes
// temporary files too, those of writers at work included: then once more.
func (f *flush) place(t *temp) error {
	err := t.install()
	for tries := 0; gone(err) && tries < collections; tries++ {
		again, stageErr := f.stage(t.added)
		if stageErr != nil {
			return stageErr
		}
		*t = *again
		if err = t.file.Sync(); err == nil {
			err = t.install()
		}
	}
	return err
}

func (f *flush) discard() {
	for _, t := range f.temps {
		t.discard()
	}
	f.temps = nil
}

func writeError(o *added, path string, err error) error {
	return fmt.Errorf("write object %s: %s: %w", o.hash, path, cause(err))
}

func (s *Database) loosePath(h plumbing.Hash) string {
	return filepath.Join(s.cfg.Dir, looseName(h))
}

func (f *flush) done(step, path string) {
	if f.store.trace != nil {
		f.store.trace(step, path)
	}
}

// cause strips the path from a file error: a temporary name means nothing to
// the reader of the message.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
