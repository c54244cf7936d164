package objects

import (
	"fmt"
	"maps"
	"os"
	"slices"
)

// sync brings the contents of the new files and of the existing ones to the
// disk: all written out and one sync where the journal is ordered, a sync of
// each elsewhere.
func (f *flush) sync() error {
	var err error
	if f.store.ordered() {
		err = f.syncOrdered()
	} else {
		err = f.syncEach()
	}
	f.loose = nil
	return err
}

// syncOrdered syncs the file that was changed last, once all are written out.
// New files come after existing ones, which were touched before: so whatever
// was done to any of them is in the journal by then.
func (f *flush) syncOrdered() error {
	var files []*os.File
	var names []string
	for _, path := range f.loose {
		file, err := os.Open(path)
		if gone(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("sync object: %w", err)
		}
		defer file.Close()
		files, names = append(files, file), append(names, path)
	}
	for _, t := range f.temps {
		files, names = append(files, t.file), append(names, t.final)
	}
	if len(files) == 0 {
		return nil
	}
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
	last := len(files) - 1
	if err := files[last].Sync(); err != nil {
		return fmt.Errorf("sync object: %s: %w", names[last], cause(err))
	}
	f.done("journal", names[last])
	return nil
}

// syncEach syncs every file. They wait for it together: a journal takes all of
// them in one commit.
func (f *flush) syncEach() error {
	n := len(f.temps)
	return parallel(n+len(f.loose), func(i int) error {
		if i < n {
			t := f.temps[i]
			if err := t.file.Sync(); err != nil {
				return writeError(t.added, t.final, err)
			}
			f.done("sync", t.final)
			return nil
		}
		path := f.loose[i-n]
		if err := syncFile(path); err != nil && !gone(err) {
			return fmt.Errorf("sync object: %w", err)
		}
		f.done("sync", path)
		return nil
	})
}

// syncDirs makes the names durable. The objects directory is included, and so
// are those of existing objects: somebody else may have made them a moment
// ago, without a sync. In an ordered journal the directory that was changed
// last stands for all.
func (f *flush) syncDirs() error {
	if len(f.dirs) == 0 {
		return nil
	}
	if f.store.ordered() {
		return f.syncLast()
	}
	f.dirs[f.store.cfg.Dir] = true
	dirs := slices.Collect(maps.Keys(f.dirs))
	return parallel(len(dirs), func(i int) error {
		if err := syncDir(dirs[i]); err != nil && !gone(err) {
			return fmt.Errorf("sync directory: %w", err)
		}
		f.done("sync", dirs[i])
		return nil
	})
}

func (f *flush) syncLast() error {
	if f.lastDir == "" {
		return nil // nothing was named; what existed is in the journal with its contents
	}
	err := syncDir(f.lastDir)
	if gone(err) { // a gc removed it when it was empty, and so changed the one above
		err = syncDir(f.store.cfg.Dir)
	}
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	f.done("journal", f.lastDir)
	return nil
}
