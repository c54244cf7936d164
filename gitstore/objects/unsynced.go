package objects

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// By default git syncs packs, but neither loose objects nor the names of packs
// (core.fsync). They are on the disk only after the kernel has written them out.

// writtenOut is the age from which a file counts as written out. Linux does that
// after 35 seconds by default (vm.dirty_expire_centisecs and
// vm.dirty_writeback_centisecs), in laptop mode after 20 minutes. The rest is for
// a file system that is busy, and for clocks that differ.
const writtenOut = 30 * time.Minute

// Recent returns the time before which changes are on the disk: since, or
// earlier, that of a file that counts as written out.
func Recent(since time.Time) time.Time {
	if old := time.Now().Add(-writtenOut); since.Before(old) {
		return old
	}
	return since
}

// ChangedSince reports whether a file or directory was changed at or after a
// time, also in the future of this clock.
func ChangedSince(path string, since time.Time) bool {
	c, err := changeOf(path)
	return err == nil && !c.at.Before(since)
}

// Stamp returns a text that differs after a file or directory was changed,
// replaced or copied. Without the file it is "-".
func Stamp(path string) string {
	c, err := changeOf(path)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d:%d:%d", c.dev, c.ino, c.at.UnixNano())
}

// Identity returns a text that differs between two files or directories, also
// between a file and its copy. Without the file it is "-".
func Identity(path string) string {
	c, err := changeOf(path)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d:%d", c.dev, c.ino)
}

// PackStamp returns a text that differs after packs were added or removed, here
// or in an alternate.
func (s *Database) PackStamp() string {
	s.life.RLock()
	defer s.life.RUnlock()
	var stamps []string
	for _, src := range s.all() {
		stamps = append(stamps, Stamp(src.packDir()), Stamp(filepath.Join(src.dir, "info", "alternates")))
	}
	return strings.Join(stamps, " ")
}

// Dirs returns the objects directories, the store's own first.
func (s *Database) Dirs() []string {
	s.life.RLock()
	defer s.life.RUnlock()
	var dirs []string
	for _, src := range s.all() {
		dirs = append(dirs, src.dir)
	}
	return dirs
}

// UnsyncedPacks lists the files of packs, and those that describe packs and
// alternates, that were changed at or after a time.
func (s *Database) UnsyncedPacks(since time.Time) (files []string) {
	for _, dir := range s.Dirs() {
		files = append(files, changedIn(filepath.Join(dir, "pack"), since)...)
		files = append(files, changedIn(filepath.Join(dir, "info"), since)...)
		files = append(files, changedIn(filepath.Join(dir, "info", "commit-graphs"), since)...)
	}
	return files
}

// UnsyncedLoose lists the loose objects that were changed at or after a time.
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

// changedIn lists the files of a directory that were changed at or after a time.
// Temporary files are not reached by anything.
func changedIn(dir string, since time.Time) (files []string) {
	if !ChangedSince(dir, since) {
		return nil
	}
	return changedFiles(dir, since)
}

// LooseFile returns the file of an object that is in no pack, or "".
func (s *Database) LooseFile(h plumbing.Hash) (path string) {
	_ = s.lookup(h, func(at found) error {
		if at.pack == nil {
			path = at.src.loosePath(h)
		}
		return at.exists()
	})
	return path
}

// Sync notes files and directories that others wrote. Flush makes their contents
// and names durable with the objects of the batch. A file that is removed
// meanwhile is left out, and so is a file that this user cannot read.
func (b *Batch) Sync(paths ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.others = append(b.others, paths...)
}

// SyncFiles makes the contents and names of files durable.
func (s *Database) SyncFiles(paths []string) error {
	f := s.newFlush()
	f.others = paths
	if err := f.syncEach(); err != nil {
		return err
	}
	return f.syncEachDir()
}
