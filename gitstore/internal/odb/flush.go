package odb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// Flush makes the objects of the batch durable: if it returns nil, they survive a power
// failure. Flush freshens existing objects, so that a concurrent gc does not delete them,
// and writes missing and damaged objects. If Flush fails, it removes its temporary files.
// Files with an object's name are always complete. Flush may be called again.
func (b *Batch) Flush() error {
	settle, err := b.Install()
	if err != nil {
		return err
	}
	return settle()
}

// Install does all steps of Flush except the last, and returns the last step as settle.
// After Install the objects are readable, but their names are not durable yet. In an
// ordered journal, their contents are not durable either. Install treats the contents of
// the files in beside like those of the objects.
func (b *Batch) Install(beside ...*os.File) (settle func() error, err error) {
	return b.InstallAbove(context.Background(), math.MaxInt, beside...)
}

// InstallAbove is Install, but writes a pack if more than packAbove objects are new. One
// pack is then cheaper than loose files. Packed reports whether it wrote a pack.
func (b *Batch) InstallAbove(ctx context.Context, packAbove int, beside ...*os.File) (settle func() error, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.store.newFlush()
	f.beside, f.others = beside, b.others
	write, err := f.keep(b.keptOnly())
	if err != nil {
		return nil, err
	}
	for _, o := range b.objects {
		if !f.freshen(o.hash, o) {
			write = append(write, o)
		}
	}
	if b.packed = len(write) > packAbove; b.packed {
		return b.installPack(ctx, f, write)
	}
	err = f.write(write)
	b.placed = append(b.placed, f.placed...)
	if err != nil {
		return nil, err
	}
	return f.syncDirs, nil
}

// installPack writes new objects as a pack, and makes it and the freshened objects durable.
func (b *Batch) installPack(ctx context.Context, f *flush, objects []*added) (settle func() error, err error) {
	beside := f.beside
	if err := f.write(nil); err != nil {
		return nil, err
	}
	if err := f.syncDirs(); err != nil {
		return nil, err
	}
	if _, err := b.store.writePack(ctx, objects, nil); err != nil {
		return nil, err
	}
	return func() error {
		return parallel(len(beside), func(i int) error { return fsutil.Sync(beside[i]) })
	}, nil
}

// A flush is the state of one Flush call.
type flush struct {
	store  *Database
	packs  map[string]bool // whether touching the pack succeeded
	loose  []string        // existing object files to sync
	beside []*os.File      // open files of the caller to sync
	others []string        // existing files of other programs to sync, with their directories
	temps  []*temp
	placed []plumbing.Hash // objects whose files were created
	dirs   map[string]bool // directories to sync
	z      compressor

	last string // last touched file, or directory of the last rename
}

func (s *Database) newFlush() *flush {
	return &flush{store: s, packs: make(map[string]bool), dirs: make(map[string]bool)}
}

// atOnce limits the number of open files.
const atOnce = 128

// A KeepError reports an object of another process that a batch needs (Batch.Keep) and that could
// not be read.
type KeepError struct {
	Hash plumbing.Hash
	Err  error
}

func (e *KeepError) Error() string { return fmt.Sprintf("keep object %s: %v", e.Hash, e.Err) }

func (e *KeepError) Unwrap() error { return e.Err }

// keep freshens existing objects. It returns copies of the objects that cannot be
// freshened, for example in a read-only directory or in a cruft pack. If it cannot read
// some objects, it returns the copies of the others too.
func (f *flush) keep(hashes []plumbing.Hash) (write []*added, err error) {
	for _, h := range hashes {
		if f.freshen(h, nil) {
			continue
		}
		t, content, readErr := f.store.Read(h)
		if readErr != nil {
			err = cmp.Or[error](err, &KeepError{h, readErr})
			continue
		}
		write = append(write, &added{h, t, content})
	}
	return write, err
}

// freshen updates the modification time of one copy of an object and reports success. If
// o is not nil, a loose copy must have the content of o.
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

// freshenPack touches a pack once. Objects in a cruft pack count as missing, as in git,
// because the modification time of a cruft pack does not protect its objects.
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

// sameLoose checks that a loose file contains the object o. If o is nil, it checks only
// the header of the file.
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

// write writes objects as loose files in four steps: contents under temporary names,
// sync, rename, sync of the directories. Each step finishes before the next begins.
func (f *flush) write(objects []*added) error {
	defer func() {
		for _, t := range f.temps {
			t.discard()
		}
		f.temps = nil
	}()
	for some := range slices.Chunk(objects, atOnce) {
		if err := f.install(some); err != nil {
			return err
		}
	}
	return f.sync()
}

// install does the first three steps of write for up to atOnce objects.
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
		f.placed = append(f.placed, t.hash)
		f.last = filepath.Dir(t.final)
		f.dirs[f.last] = true
	}
	f.temps = f.temps[:0]
	return nil
}

// collections limits the retries after a gc has deleted files that are being written.
const collections = 20

// place renames a complete temporary file to its final name. A concurrent `git gc
// --prune=now` may delete temporary files of running writers; place then retries.
func (f *flush) place(t *temp) error {
	err := t.install()
	for tries := 0; gone(err) && tries < collections; tries++ {
		again, stageErr := f.stage(t.added)
		if stageErr != nil {
			return stageErr
		}
		*t = *again
		if err = fsutil.Sync(t.file); err == nil {
			err = t.install()
		}
	}
	return err
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

// cause strips the path from a file error, because a temporary name does not help the
// reader of the message.
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

// A temp is an object file under a temporary name. The name begins with tmp_obj_, so that
// git gc deletes leftovers of killed processes.
type temp struct {
	*added
	path  string // "" after the rename
	final string
	file  *os.File
}

// stage writes an object to a temporary file in its final directory.
func (f *flush) stage(o *added) (*temp, error) {
	t := &temp{added: o, final: f.store.loosePath(o.hash)}
	data, err := f.z.looseData(o)
	if err != nil {
		return nil, err
	}
	if err := t.create(f.store); err != nil {
		return nil, err
	}
	if _, err := t.file.Write(data); err != nil {
		t.discard()
		return nil, err
	}
	if err := f.store.share(t.file); err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

// create creates the temporary file, and its directory if necessary.
func (t *temp) create(s *Database) error {
	dir := filepath.Dir(t.final)
	for range 100 {
		path := filepath.Join(dir, "tmp_obj_"+strconv.FormatUint(rand.Uint64(), 36))
		file, err := fsutil.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
		switch {
		case err == nil:
			t.path, t.file = path, file
			return nil
		case gone(err):
			// A gc may delete an empty directory again, so retry.
			if err := s.makeDir(dir); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return errors.New("no temporary name is free")
}

// install renames the file to its final name. It replaces an existing file, which has the
// same content or is damaged.
func (t *temp) install() error {
	err := t.file.Close()
	t.file = nil
	if err != nil {
		return err
	}
	if err := os.Rename(t.path, t.final); err != nil {
		// Windows cannot replace a read-only or open file. In that case an intact
		// existing file suffices.
		if sameLoose(t.final, t.added) != nil {
			return err
		}
		t.discard()
	}
	t.path = ""
	return nil
}

// discard closes and deletes the temporary file.
func (t *temp) discard() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
	if t.path != "" {
		_ = os.Remove(t.path)
		t.path = ""
	}
}
