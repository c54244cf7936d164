package odb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
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
		if err := b.store.writePack(ctx, packed); err != nil {
			return err
		}
	}
	return f.syncDirs()
}

// A flush is the state of one Install call.
type flush struct {
	store *Database
	files map[string]bool // existing files to sync
	dirs  map[string]bool // directories to sync
}

// newFlush returns a flush that syncs existing files.
func (s *Database) newFlush(files ...string) *flush {
	f := &flush{store: s, files: map[string]bool{}, dirs: map[string]bool{}}
	for _, path := range files {
		f.add(path)
	}
	return f
}

// add adds a file with a new or changed name.
func (f *flush) add(path string) {
	f.files[path] = true
	f.dirs[filepath.Dir(path)] = true
}

// ErrKeptGone reports that an object of another process is missing, which a batch needs (Batch.Keep).
var ErrKeptGone = fmt.Errorf("keep an object: %w", plumbing.ErrObjectNotFound)

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
				readErr = ErrKeptGone
			}
		} else {
			o := &added{hash: h}
			if o.kind, o.content, readErr = f.store.Read(h); readErr == nil {
				write = append(write, o)
			}
		}
		if readErr != nil {
			err = cmp.Or(err, fmt.Errorf("object %s: %w", h, readErr))
		}
	}
	return write, err
}

// freshen updates the modification time of a loose object and reports success. If o is not nil,
// the file must have the content of o.
func (f *flush) freshen(h plumbing.Hash, o *added) bool {
	path, now := f.store.loosePath(h), time.Now()
	if sameLoose(path, o) != nil || os.Chtimes(path, now, now) != nil {
		return false
	}
	f.add(path)
	return true
}

var errStale = errors.New("other content")

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

// write writes objects as loose files, each in three steps: content under a temporary name, sync,
// rename. It also syncs the existing files. The caller syncs the directories afterwards.
func (f *flush) write(objects []*added) error {
	files := slices.Collect(maps.Keys(f.files))
	for _, o := range objects {
		f.dirs[filepath.Dir(f.store.loosePath(o.hash))] = true
	}
	return parallel(len(objects)+len(files), func(i int) error {
		if i < len(objects) {
			return f.writeLoose(objects[i])
		}
		return f.syncAt(files[i-len(objects)])
	})
}

// collections limits the retries after a gc has deleted files that are being written.
const collections = 20

// writeLoose writes an object as a loose file. A concurrent `git gc --prune=now` may delete the
// temporary file or its empty directory; then writeLoose tries again.
func (f *flush) writeLoose(o *added) error {
	path := f.store.loosePath(o.hash)
	err := f.tryLoose(path, o)
	for tries := 0; gone(err) && tries < collections; tries++ {
		if err = f.store.makeDir(filepath.Dir(path)); err == nil {
			err = f.tryLoose(path, o)
		}
	}
	if err != nil {
		if cause, ok := errors.AsType[syscall.Errno](err); ok { // without a temporary name
			err = cause
		}
		return fmt.Errorf("write object %s: %s: %w", o.hash, path, err)
	}
	return nil
}

// tryLoose writes an object once. The name of the temporary file begins with tmp_obj_, so that git
// gc deletes leftovers of killed processes.
func (f *flush) tryLoose(path string, o *added) error {
	temp, err := fsutil.CreateTemp(filepath.Join(filepath.Dir(path), "tmp_obj_"), 0o444)
	if err != nil {
		return err
	}
	w := objfile.NewWriter(temp)
	err = w.WriteHeader(o.kind, int64(len(o.content)))
	if err == nil {
		_, err = w.Write(o.content)
	}
	if err = errors.Join(err, w.Close()); err == nil {
		f.store.Share(temp.Name())
		err = fsutil.Sync(temp)
		f.done("sync", path)
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		// It replaces an existing file, which has the same content or is damaged. Windows cannot
		// replace a read-only or open file: then an intact existing file suffices.
		if err = os.Rename(temp.Name(), path); err == nil {
			f.done("name", path)
			return nil
		}
		if sameLoose(path, o) == nil {
			err = nil
		}
	}
	_ = os.Remove(temp.Name())
	return err
}

func (f *flush) done(step, path string) {
	if f.store.trace != nil {
		f.store.trace(step, path)
	}
}
