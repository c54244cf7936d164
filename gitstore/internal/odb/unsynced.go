package odb

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

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
