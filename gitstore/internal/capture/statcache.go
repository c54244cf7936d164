package capture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"
	"time"

	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/index"

	"github.com/go-git/go-git/v5/plumbing"
)

// A statCache knows the blobs of worktree files by their stat data, so that a save does not
// read a file again that an earlier save has read. It contains files that the index does not
// describe: untracked files, and tracked files with other stat data than in the index. It
// contains only files that git stores without a conversion.
//
// The file stat-cache in the state directory of a worktree is, with big-endian numbers:
//
//	cache = "GCSC" version:1 hash-size:1 count:4 *entry checksum:32
//	entry = ctime:8 mtime:8 dev:4 ino:4 uid:4 gid:4 size:4 key:8 hash:20 length:2 path
//
// The checksum is the SHA-256 of all bytes before it. A file with another form counts as
// empty, as does a missing file: a lost cache costs only time, so it is written without a
// sync. Two saves at once replace the file one after the other.
//
// Racy timestamps: a file that changes twice within one tick of the clock can have equal stat
// data for two contents. So the cache accepts a file only if its mtime and ctime are older
// than the moment before its content was read, by the clock of the file system.
type statCache struct {
	path    string
	root    *index.Dir                           // worktree, nil if the system has no ctime
	makeDir func(dir string) error               // creates the state directory
	replace func(path string, data []byte) error // replaces the file
	reread  bool                                 // ignore the file, because the store lacks a blob

	load   sync.Once
	known  map[string]cachedFile // contents of the file; not changed after load
	now    []namedFile           // files of this save
	added  bool                  // now has files that the file lacks
	ticks  sync.Once
	ticked time.Time // before the first read, by the clock of the file system; zero if unknown
}

// A cachedFile is a regular file with its blob.
type cachedFile struct {
	stat index.Stat
	key  uint64 // attributes, settings and staged blob by which the blob was computed
	hash plumbing.Hash
}

type namedFile struct {
	name string
	cachedFile
}

const (
	statCacheMagic   = "GCSC\x01"
	statCacheHead    = len(statCacheMagic) + 1 + 4
	cachedFileSize   = 9*4 + 8 + objectformat.Size + 2
	maxStatCache     = 1 << 29 // bytes; a cache of two million files has 200 MB
	maxCachedPath    = 1<<16 - 1
	racyMargin       = 20 * time.Millisecond // ticks of a second file system may be later
	racyMarginCoarse = 2 * time.Second       // timestamps of FAT
)

// openStatCache returns the cache of the worktree, and a function that closes it.
func (s *Capturer) openStatCache(reread bool) (c *statCache, done func()) {
	c = &statCache{path: filepath.Join(s.StateDir(), "stat-cache"), makeDir: s.Objects.MakeDirs, replace: s.WriteUnsynced, reread: reread}
	root, err := index.OpenDir(s.Info.Root)
	if err != nil {
		return c, func() {}
	}
	c.root = root
	return c, func() { root.Close() }
}

// files returns the contents of the cache file.
func (c *statCache) files() map[string]cachedFile {
	c.load.Do(func() {
		info, err := os.Lstat(c.path)
		if c.reread || err != nil || !info.Mode().IsRegular() || info.Size() > maxStatCache {
			return
		}
		if data, err := os.ReadFile(c.path); err == nil {
			c.known = parseStatCache(data)
		}
	})
	return c.known
}

// parseStatCache returns the files of a cache, nil if its form is not valid.
func parseStatCache(data []byte) map[string]cachedFile {
	end := len(data) - sha256.Size
	if end < statCacheHead || string(data[:len(statCacheMagic)]) != statCacheMagic || data[len(statCacheMagic)] != objectformat.Size {
		return nil
	}
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil
	}
	text, at := string(data[:end]), statCacheHead
	count := int(binary.BigEndian.Uint32(data[at-4:]))
	if count > end/cachedFileSize {
		return nil
	}
	files := make(map[string]cachedFile, count)
	for range count {
		if at+cachedFileSize > end {
			return nil
		}
		var f cachedFile
		for _, field := range f.fields() {
			*field = binary.BigEndian.Uint32(data[at:])
			at += 4
		}
		f.key = binary.BigEndian.Uint64(data[at:])
		at += 8 + copy(f.hash[:], data[at+8:])
		length := int(binary.BigEndian.Uint16(data[at:]))
		if at += 2; at+length > end {
			return nil
		}
		files[text[at:at+length]] = f
		at += length
	}
	return files
}

// fields returns the stat data in the order of the file.
func (f *cachedFile) fields() [9]*uint32 {
	s := &f.stat
	return [...]*uint32{&s.CTime.Sec, &s.CTime.Nsec, &s.MTime.Sec, &s.MTime.Nsec, &s.Dev, &s.Ino, &s.UID, &s.GID, &s.Size}
}

// find returns the blob of a file, or zero.
func (c *statCache) find(name string, found foundFile, key uint64) plumbing.Hash {
	f, ok := c.files()[name]
	if !ok || f.stat != found.stat || f.key != key || key == 0 {
		return plumbing.ZeroHash
	}
	c.now = append(c.now, namedFile{name, f})
	return f.hash
}

// has reports whether find may know a file. It may be called by several goroutines.
func (c *statCache) has(name string, found foundFile) bool {
	f, ok := c.files()[name]
	return ok && f.stat == found.stat
}

// tick sets the moment before the first read. It is called before each read.
func (c *statCache) tick() {
	c.ticks.Do(func() {
		dir := filepath.Dir(c.path)
		if c.root == nil || c.makeDir(dir) != nil {
			return
		}
		f, err := os.CreateTemp(dir, ".tmp-clock-")
		if err != nil {
			return
		}
		if info, err := f.Stat(); err == nil {
			c.ticked = info.ModTime()
		}
		f.Close()
		os.Remove(f.Name())
	})
}

// add adds a file that was read after tick, with its stat data before the read.
func (c *statCache) add(name string, stat index.Stat, key uint64, hash plumbing.Hash) {
	if key == 0 || hash.IsZero() || len(name) > maxCachedPath || c.isRacy(stat) {
		return
	}
	c.now, c.added = append(c.now, namedFile{name, cachedFile{stat, key, hash}}), true
}

// isRacy reports whether a file may change after its read without a change of its stat data.
func (c *statCache) isRacy(stat index.Stat) bool {
	margin := racyMargin
	if stat.MTime.Nsec == 0 || stat.CTime.Nsec == 0 {
		margin = racyMarginCoarse
	}
	before := c.ticked.Add(-margin)
	for _, t := range []index.Time{stat.MTime, stat.CTime} {
		if !time.Unix(int64(t.Sec), int64(t.Nsec)).Before(before) {
			return true
		}
	}
	return false
}

// save replaces the cache file if this save has read files, or if most files of the cache are
// of the past. The files of the past stay if the save did not look at all files. An error
// means that the next save reads the files again.
func (c *statCache) save(complete bool) {
	if c.root == nil || !c.added && (!complete || len(c.known) <= 2*len(c.now)) {
		return
	}
	if !complete {
		seen := map[string]bool{}
		for _, f := range c.now {
			seen[f.name] = true
		}
		for name, f := range c.files() {
			if !seen[name] {
				c.now = append(c.now, namedFile{name, f})
			}
		}
	}
	if data := encodeStatCache(c.now); len(data) <= maxStatCache {
		_ = c.replace(c.path, data)
	}
}

func encodeStatCache(files []namedFile) []byte {
	size := statCacheHead + sha256.Size
	for _, f := range files {
		size += cachedFileSize + len(f.name)
	}
	data := make([]byte, 0, size)
	data = append(data, statCacheMagic...)
	data = append(data, objectformat.Size)
	data = binary.BigEndian.AppendUint32(data, uint32(len(files)))
	for _, f := range files {
		for _, field := range f.fields() {
			data = binary.BigEndian.AppendUint32(data, *field)
		}
		data = binary.BigEndian.AppendUint64(data, f.key)
		data = append(data, f.hash[:]...)
		data = binary.BigEndian.AppendUint16(data, uint16(len(f.name)))
		data = append(data, f.name...)
	}
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}
