package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// sync syncs the contents of new and existing files. In an ordered journal sync only
// starts and awaits the writeback, because the journal never commits a later name without
// the written data.
func (f *flush) sync() error {
	var err error
	switch {
	case !f.store.ordered():
		err = f.syncEach()
	case len(f.temps) == 0 && len(f.others) > 0: // no rename follows these files
		err = f.store.SyncFiles(f.others)
		f.others = nil
		fallthrough
	default:
		err = errors.Join(err, f.writeOut())
	}
	f.loose, f.beside, f.others = nil, nil, nil
	return err
}

// writeOut writes the data of all files to disk. In an ordered journal, the sizes and
// block positions of these files precede all names that are created afterwards. Files on
// another file system, such as those of an alternate, have another journal or none.
// writeOut syncs them with fsync.
func (f *flush) writeOut() error {
	for some := range slices.Chunk(f.others, atOnce) {
		if err := f.writeOutOthers(some); err != nil {
			return err
		}
	}
	var files []*os.File
	var names []string
	for _, path := range f.loose {
		file, err := fsutil.OpenFile(path, os.O_RDONLY, 0)
		if gone(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("sync object: %w", err)
		}
		defer file.Close()
		if !strings.HasPrefix(path, f.store.cfg.Dir+string(filepath.Separator)) && !f.store.InOrder(file) {
			if err := f.syncApart(file, path); err != nil {
				return err
			}
			continue
		}
		files, names = append(files, file), append(names, path)
		f.last = path
	}
	for _, t := range f.temps {
		files, names = append(files, t.file), append(names, t.final)
	}
	for _, file := range f.beside {
		if !f.store.InOrder(file) {
			if err := f.syncApart(file, file.Name()); err != nil {
				return err
			}
			continue
		}
		files, names = append(files, file), append(names, file.Name())
	}
	return f.writeAll(files, names)
}

// writeAll starts the writeback of all files, then waits for all of them.
func (f *flush) writeAll(files []*os.File, names []string) error {
	for _, step := range []func(*os.File) error{startWriting, waitWritten} {
		for i, file := range files {
			if err := step(file); err != nil {
				return fmt.Errorf("write object: %s: %w", names[i], err)
			}
		}
	}
	for _, name := range names {
		f.done("written", name)
	}
	return nil
}

// writeOutOthers is writeOut for existing files of other programs. The caller passes them
// in chunks, because there may be many.
func (f *flush) writeOutOthers(paths []string) error {
	var files []*os.File
	var names []string
	for _, path := range paths {
		file, err := fsutil.OpenFile(path, os.O_RDONLY, 0)
		if skipped(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("sync file: %w", err)
		}
		defer file.Close()
		info, err := file.Stat()
		switch {
		case err != nil:
			return fmt.Errorf("sync file: %w", err)
		case !f.store.InOrder(file):
			if err := f.syncApart(file, path); err != nil {
				return err
			}
		case !info.IsDir(): // the journal contains directories
			files, names = append(files, file), append(names, path)
		}
	}
	return f.writeAll(files, names)
}

// syncApart syncs a file and its directory if the file is not on the file system of the
// objects directory.
func (f *flush) syncApart(file *os.File, path string) error {
	if err := fsutil.Sync(file); err != nil {
		return fmt.Errorf("sync %s: %w", path, cause(err))
	}
	if err := fsutil.SyncDir(filepath.Dir(path)); err != nil && !gone(err) {
		return fmt.Errorf("sync directory: %w", err)
	}
	f.done("sync", path)
	return nil
}

// syncEach syncs each file. The calls run in parallel, so that the file system can commit
// them in one journal transaction.
func (f *flush) syncEach() error {
	for _, path := range f.others {
		f.dirs[filepath.Dir(path)] = true
	}
	n, beside, others := len(f.temps), len(f.beside), len(f.others)
	return parallel(n+beside+others+len(f.loose), func(i int) error {
		switch {
		case i < n:
			t := f.temps[i]
			if err := fsutil.Sync(t.file); err != nil {
				return writeError(t.added, t.final, err)
			}
			f.done("sync", t.final)
			return nil
		case i < n+beside:
			return fsutil.Sync(f.beside[i-n])
		case i < n+beside+others:
			path := f.others[i-n-beside]
			if err := fsutil.SyncDir(path); err != nil && !skipped(err) {
				return fmt.Errorf("sync file: %w", err)
			}
			f.done("sync", path)
			return nil
		}
		path := f.loose[i-n-beside-others]
		if err := fsutil.SyncFile(path); err != nil && !gone(err) {
			return fmt.Errorf("sync object: %w", err)
		}
		f.done("sync", path)
		return nil
	})
}

// skipped reports whether err means that a file of git was removed or is unreadable, for
// git too.
func skipped(err error) bool { return gone(err) || errors.Is(err, fs.ErrPermission) }

// syncDirs makes file names durable. It syncs the objects directory and the directories
// of existing objects too, because another process may have created them without a sync.
// In an ordered journal, one sync of the last change commits all earlier changes and
// contents.
func (f *flush) syncDirs() error {
	if len(f.dirs) == 0 {
		return nil
	}
	if !f.store.ordered() {
		return f.syncEachDir()
	}
	var err error
	// The directory of the last rename, or the last touched file. A gc may remove the file, which
	// changes its parent directory.
	for _, at := range []string{f.last, filepath.Dir(f.last), f.store.cfg.Dir} {
		if err = fsutil.SyncDir(at); !gone(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("sync objects: %w", err)
	}
	f.done("journal", f.last)
	return nil
}

// syncEachDir syncs each directory in which a file got its name.
func (f *flush) syncEachDir() error {
	f.dirs[f.store.cfg.Dir] = true
	dirs := slices.Collect(maps.Keys(f.dirs))
	return parallel(len(dirs), func(i int) error {
		if err := fsutil.SyncDir(dirs[i]); err != nil && !gone(err) {
			return fmt.Errorf("sync directory: %w", err)
		}
		f.done("sync", dirs[i])
		return nil
	})
}

// By default git syncs packs, but neither loose objects nor pack names (core.fsync). They
// are durable only after the kernel's writeback.

// writtenOut is the minimum age of files that count as written to disk. Linux writes them
// within 35 seconds by default (vm.dirty_expire_centisecs and
// vm.dirty_writeback_centisecs), in laptop mode within 20 minutes. The margin covers busy
// file systems and clock differences.
const writtenOut = 30 * time.Minute

// Recent returns the later of since and the current time minus writtenOut. Older changes
// are on disk.
func Recent(since time.Time) time.Time {
	if old := time.Now().Add(-writtenOut); since.Before(old) {
		return old
	}
	return since
}

// ChangedSince reports whether a file or directory has a ctime at or after since. Times
// in the future count too.
func ChangedSince(path string, since time.Time) bool {
	c, err := changeOf(path)
	return err == nil && !c.at.Before(since)
}

// Stamp returns a text that changes if a file or directory is changed, replaced or
// copied. Stamp returns "-" if the file is missing.
func Stamp(path string) string {
	c, err := changeOf(path)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d:%d:%d", c.dev, c.ino, c.at.UnixNano())
}

// Identity returns a text that differs between two files or directories, also between a
// file and its copy. Identity returns "-" if the file is missing.
func Identity(path string) string {
	c, err := changeOf(path)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d:%d", c.dev, c.ino)
}

// PackStamp returns a text that changes if packs are added or removed, in this repository
// or an alternate.
func (s *Database) PackStamp() string {
	s.life.RLock()
	defer s.life.RUnlock()
	var stamps []string
	for _, src := range s.all() {
		stamps = append(stamps, Stamp(src.packDir()), Stamp(filepath.Join(src.dir, "info", "alternates")))
	}
	return strings.Join(stamps, " ")
}

// Dirs returns the objects directories, the repository's own directory first.
func (s *Database) Dirs() []string {
	s.life.RLock()
	defer s.life.RUnlock()
	var dirs []string
	for _, src := range s.all() {
		dirs = append(dirs, src.dir)
	}
	return dirs
}

// UnsyncedPacks returns files in the directories pack, info and info/commit-graphs with a
// ctime at or after since.
func (s *Database) UnsyncedPacks(since time.Time) (files []string) {
	for _, dir := range s.Dirs() {
		files = append(files, changedIn(filepath.Join(dir, "pack"), since)...)
		files = append(files, changedIn(filepath.Join(dir, "info"), since)...)
		files = append(files, changedIn(filepath.Join(dir, "info", "commit-graphs"), since)...)
	}
	return files
}

// UnsyncedLoose returns the files of loose objects with a ctime at or after since.
func (s *Database) UnsyncedLoose(since time.Time) (files []string) {
	for _, dir := range s.Dirs() {
		names := changedFanOut(dir, since)
		found := make([][]string, len(names))
		_ = parallel(len(names), func(i int) error {
			found[i] = changedFiles(filepath.Join(dir, names[i]), since)
			return nil
		})
		files = append(files, slices.Concat(found...)...)
	}
	return files
}

// changedIn returns the files in dir with a ctime at or after since. It skips temporary
// files, because nothing references them.
func changedIn(dir string, since time.Time) (files []string) {
	if !ChangedSince(dir, since) {
		return nil
	}
	return changedFiles(dir, since)
}

// LooseFile returns the path of a loose object, or "" if a pack contains the object. For
// a missing object, it returns a path without a file.
func (s *Database) LooseFile(h plumbing.Hash) (path string) {
	_ = s.lookup(h, func(at found) error {
		if at.pack == nil {
			path = at.src.loosePath(h)
		}
		return at.exists()
	})
	return path
}

// Sync adds files and directories of other programs to the batch. Flush makes their
// contents and names durable together with the objects. Flush skips files that were
// removed or are unreadable for this user.
func (b *Batch) Sync(paths ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.others = append(b.others, paths...)
}

// SyncFiles makes contents and names of files durable.
func (s *Database) SyncFiles(paths []string) error {
	f := s.newFlush()
	f.others = paths
	if err := f.syncEach(); err != nil {
		return err
	}
	return f.syncEachDir()
}

// waiters is the number of parallel fsync calls, each in a thread. A file system commits
// concurrent syncs in one journal transaction. For 20 objects and their directories,
// sequential syncs took 13 ms. With 8 or 16 threads they took 7 ms, and 32 threads saved
// nothing. One sync in an ordered journal took 4 ms.
const waiters = 16

// parallel calls f for 0 to n-1, also after errors, and returns the error with the lowest
// index.
func parallel(n int, f func(int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, waiters) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = f(i)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
