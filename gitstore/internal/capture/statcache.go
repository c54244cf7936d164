package capture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"git-checkpoint/gitstore/internal/git/convert"
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

	mutex   sync.Mutex
	load    sync.Once
	known   map[string]cachedFile // contents of the file; not changed after load
	found   []string              // known files of this save
	assumed map[directoryKey]bool // assumptions about found files
	added   []namedFile           // files that this save has read
	worth   int64                 // bytes whose write takes less time than reads of added files
	ticks   sync.Once
	ticked  time.Time // before the first read, by the clock of the file system; zero if unknown
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
	typicalPath      = 40       // bytes
	worthPerFile     = 32 << 10 // bytes of the cache file that are written in the time of several reads
	worthPerByte     = 4
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

// A directoryKey is the key of a directory without the staged blob of a file.
type directoryKey struct {
	dir string
	key uint64
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
	c.found = append(c.found, name)
	return f.hash
}

// has reports whether find may know a file. It may be called by several goroutines.
func (c *statCache) has(name string, found foundFile) bool {
	f, ok := c.files()[name]
	return ok && f.stat == found.stat
}

// unchanged returns the key of the directory by which a file has its staged blob, or 0. It may
// be called by several goroutines.
func (c *statCache) unchanged(name string, stat index.Stat, staged plumbing.Hash) uint64 {
	f, ok := c.files()[name]
	if !ok || f.stat != stat || f.hash != staged {
		return 0
	}
	return withStaged(f.key, staged)
}

// withStaged adds a staged blob to the key of a directory, or removes it again. Git keeps the
// carriage returns of a file that is staged with some.
func withStaged(key uint64, staged plumbing.Hash) uint64 {
	return key ^ binary.BigEndian.Uint64(staged[:])
}

// assume adds files that are unchanged if directories have these keys.
func (c *statCache) assume(found []string, keys map[directoryKey]bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.found = append(c.found, found...)
	if c.assumed == nil {
		c.assumed = map[directoryKey]bool{}
	}
	maps.Copy(c.assumed, keys)
}

// holds reports whether all directories have the assumed keys.
func (c *statCache) holds(h *convert.Hasher) bool {
	for d := range c.assumed {
		if h.Key(path.Join(d.dir, "file")) != d.key {
			return false
		}
	}
	return true
}

// forget makes the cache empty.
func (c *statCache) forget() { c.known, c.found, c.assumed = nil, nil, nil }

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
	c.added = append(c.added, namedFile{name, cachedFile{stat, key, hash}})
	c.worth += worthPerFile + worthPerByte*int64(stat.Size)
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

// save replaces the cache file if this takes less time than to read the added files again in
// some saves, or if most files of the cache are of the past. The files of the past stay if the
// save did not look at all files. An error means that the next save reads the files again.
func (c *statCache) save(complete bool) {
	if c.root == nil {
		return
	}
	size := int64(len(c.known)) * (cachedFileSize + typicalPath)
	if c.worth <= size && (!complete || len(c.known) <= 2*len(c.found)) {
		return
	}
	kept := map[string]cachedFile{}
	if complete {
		for _, name := range c.found {
			kept[name] = c.known[name]
		}
	} else {
		maps.Copy(kept, c.known)
	}
	for _, f := range c.added {
		kept[f.name] = f.cachedFile
	}
	if data := encodeStatCache(kept); len(data) <= maxStatCache {
		_ = c.replace(c.path, data)
	}
}

func encodeStatCache(files map[string]cachedFile) []byte {
	size := statCacheHead + sha256.Size
	for name := range files {
		size += cachedFileSize + len(name)
	}
	data := make([]byte, 0, size)
	data = append(data, statCacheMagic...)
	data = append(data, objectformat.Size)
	data = binary.BigEndian.AppendUint32(data, uint32(len(files)))
	for name, f := range files {
		for _, field := range f.fields() {
			data = binary.BigEndian.AppendUint32(data, *field)
		}
		data = binary.BigEndian.AppendUint64(data, f.key)
		data = append(data, f.hash[:]...)
		data = binary.BigEndian.AppendUint16(data, uint16(len(name)))
		data = append(data, name...)
	}
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}
