package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/gitstore/internal/fsutil"
)

// sync brings the contents of the new files and of the existing ones to the
// disk. Where the journal is ordered they are only written out: no name that
// comes later is in the journal without them.
func (f *flush) sync() error {
	var err error
	switch {
	case !f.store.ordered():
		err = f.syncEach()
	case len(f.temps) == 0 && len(f.others) > 0: // nothing gets a name after these
		err = f.store.SyncFiles(f.others)
		f.others = nil
		fallthrough
	default:
		err = errors.Join(err, f.writeOut())
	}
	f.loose, f.beside, f.others = nil, nil, nil
	return err
}

// writeOut writes all contents out. Their sizes, and where they lie, are in the
// journal before the names that are given next. Files that lie elsewhere, as
// those of an alternate may, are in another journal, or in none: they are synced.
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
		if !within(path, f.store.cfg.Dir) && !f.store.InOrder(file) {
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

// writeAll writes files out and waits until all of them are.
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

// writeOutOthers is writeOut for existing files of others, of which there may be
// many.
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
		case !info.IsDir(): // a directory is in the journal
			files, names = append(files, file), append(names, path)
		}
	}
	return f.writeAll(files, names)
}

func within(path, dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) }

// syncApart syncs a file that the journal of the objects knows nothing of, and
// its name.
func (f *flush) syncApart(file *os.File, path string) error {
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", path, cause(err))
	}
	if err := fsutil.SyncDir(filepath.Dir(path)); err != nil && !gone(err) {
		return fmt.Errorf("sync directory: %w", err)
	}
	f.done("sync", path)
	return nil
}

// syncEach syncs every file. They wait for it together: a journal takes all of
// them in one commit.
func (f *flush) syncEach() error {
	for _, path := range f.others {
		f.dirs[filepath.Dir(path)] = true
	}
	n, beside, others := len(f.temps), len(f.beside), len(f.others)
	return parallel(n+beside+others+len(f.loose), func(i int) error {
		switch {
		case i < n:
			t := f.temps[i]
			if err := t.file.Sync(); err != nil {
				return writeError(t.added, t.final, err)
			}
			f.done("sync", t.final)
			return nil
		case i < n+beside:
			return f.beside[i-n].Sync()
		case i < n+beside+others:
			return f.syncOther(f.others[i-n-beside])
		}
		path := f.loose[i-n-beside-others]
		if err := fsutil.SyncFile(path); err != nil && !gone(err) {
			return fmt.Errorf("sync object: %w", err)
		}
		f.done("sync", path)
		return nil
	})
}

// syncOther syncs a file or directory of git.
func (f *flush) syncOther(path string) error {
	err := fsutil.SyncDir(path)
	if err != nil && !skipped(err) {
		return fmt.Errorf("sync file: %w", err)
	}
	f.done("sync", path)
	return nil
}

// skipped reports whether a file of git cannot be opened: it was removed, or git
// cannot read it either.
func skipped(err error) bool { return gone(err) || errors.Is(err, fs.ErrPermission) }

// syncDirs makes the names durable. The objects directory is included, and so
// are those of existing objects: somebody else may have made them a moment
// ago, without a sync. In an ordered journal what was changed last stands for
// all, contents included.
func (f *flush) syncDirs() error {
	if len(f.dirs) == 0 {
		return nil
	}
	if f.store.ordered() {
		return f.syncLast()
	}
	return f.syncEachDir()
}

// syncEachDir syncs every directory in which a file was named.
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

// syncLast syncs the directory in which a file was named last, or else the
// file that was touched last.
func (f *flush) syncLast() error {
	var err error
	// A gc may remove it, and so change the directory above.
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
