package odb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// Install makes the objects of the batch readable and durable, together with the files of Sync:
// they survive a power failure. Install freshens existing loose objects, so that a concurrent gc
// does not delete them, and writes all others. More than packAbove objects become one pack, which
// is then cheaper. If Install fails, it removes its temporary files. Files with an object's name are
// always complete. Install may be called again.
func (b *Batch) Install(ctx context.Context, packAbove int) error {
	f := b.store.newFlush(b.others...)
	write, err := f.keep(b.keptOnly())
	if err != nil {
		return err
	}
	for _, o := range b.objects {
		if !f.freshen(o.hash, o) {
			write = append(write, o)
		}
	}
	loose, packed := write, []*added(nil)
	if len(write) > packAbove {
		loose, packed = nil, write
	}
	if err := f.write(loose); err != nil {
		return err
	}
	if len(packed) > 0 {
		if _, err := b.store.writePack(ctx, packed, nil); err != nil {
			return err
		}
	}
	return f.syncDirs()
}

// A flush is the state of one Install call.
type flush struct {
	store *Database
	files map[string]bool // existing files to sync, see add
	temps []*temp
	dirs  map[string]bool // directories to sync, see add
	z     compressor
}

// newFlush returns a flush that syncs existing files.
func (s *Database) newFlush(files ...string) *flush {
	f := &flush{store: s, files: map[string]bool{}, dirs: map[string]bool{}}
	for _, path := range files {
		f.add(path, false)
	}
	return f
}

// add adds a file with a new or changed name. The objects may not need the file: then it is synced
// only if this user can read it.
func (f *flush) add(path string, isNeeded bool) {
	f.files[path] = f.files[path] || isNeeded
	f.dirs[filepath.Dir(path)] = f.dirs[filepath.Dir(path)] || isNeeded
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

// keep freshens existing objects. Git does that for objects in packs when it writes them again.
// keep returns copies of loose objects that cannot be freshened, for example those of another user.
// If it cannot read some objects, it returns the copies of the others too.
func (f *flush) keep(hashes []plumbing.Hash) (write []*added, err error) {
	for _, h := range hashes {
		if f.freshen(h, nil) {
			continue
		}
		var readErr error
		if gone(statLoose(f.store.loosePath(h))) {
			if !f.store.Has(h) {
				readErr = plumbing.ErrObjectNotFound
			}
		} else {
			o := &added{hash: h}
			if o.kind, o.content, readErr = f.store.Read(h); readErr == nil {
				write = append(write, o)
			}
		}
		if readErr != nil {
			err = cmp.Or[error](err, &KeepError{h, readErr})
		}
	}
	return write, err
}

// freshen updates the modification time of a loose object and reports success. If o is not nil,
// the file must have the content of o.
func (f *flush) freshen(h plumbing.Hash, o *added) bool {
	path := f.store.loosePath(h)
	if sameLoose(path, o) != nil || touch(path) != nil {
		return false
	}
	f.add(path, true)
	return true
}

var errStale = errors.New("other content")

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
		f.dirs[filepath.Dir(t.final)] = true
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
	if err := t.create(f.store); err != nil {
		return nil, err
	}
	if err := f.z.write(t.file, looseHeader(o.kind, len(o.content)), o.content); err != nil {
		t.discard()
		return nil, err
	}
	f.store.Share(t.path)
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
