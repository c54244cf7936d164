package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"time"

	"git-checkpoint/gitstore/internal/git/convert"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/index"

	"github.com/go-git/go-git/v5/plumbing"
)

// A statCache maps paths of worktree files to stat data and blobs, so that a save does not
// read a file again that an earlier save has read. It contains files that the index does not
// describe: untracked files, and tracked files with other stat data than in the index. A file
// that git converts, as git-lfs does, is never in the cache.
//
// The file stat-cache in the state directory of a worktree contains big-endian numbers:
//
//	cache = "GCSC" version:1 hash-size:1 count:4 *entry checksum:32
//	entry = ctime:8 mtime:8 dev:4 ino:4 uid:4 gid:4 size:4 key:8 hash:hash-size length:2 path
//
// The entries are sorted by path. The checksum is the SHA-256 of all bytes before it. If the
// form or the checksum is wrong, the cache is empty. Each save replaces the file atomically,
// but does not sync it: a lost cache costs only time.
//
// The cache follows git's rule for racy timestamps. A file that changes twice within one tick
// of the clock can have equal stat data for two contents. So the cache accepts a file only if
// its mtime and ctime are older than the moment before the save read it, by the clock of the
// file system.
type statCache struct {
	path    string
	root    *index.Dir                           // worktree, nil if the system has no ctime
	makeDir func(dir string) error               // creates the state directory
	replace func(path string, data []byte) error // replaces the file
	reread  bool                                 // ignore the file, because the store lacks a blob
	dry     bool                                 // write nothing

	load sync.Once
	data []byte   // the file, not changed after load
	at   []uint32 // offsets of its entries
	used []bool   // by entry: this save has found the file; two goroutines never set the same one

	mutex      sync.Mutex
	compared   bool                  // all entries of the index were compared
	attributes map[string]bool       // attributes files of the index
	assumed    map[directoryKey]bool // assumptions about used entries
	added      map[string]cachedFile // files that this save has read
	worth      int64                 // size of a file whose write is cheaper than reads of the added files
	ticks      sync.Once
	ticked     time.Time // result of tick, zero if the clock cannot be read
}

// A cachedFile is a regular file with its blob.
type cachedFile struct {
	stat index.Stat
	key  uint64 // attributes, settings and staged blob by which the blob was computed
	hash plumbing.Hash
}

// A directoryKey is the key of a directory without the staged blob of a file.
type directoryKey struct {
	dir string
	key uint64
}

const (
	statCacheMagic   = "GCSC\x01"
	statCacheHead    = len(statCacheMagic) + 1 + 4
	cachedFileSize   = 9*4 + 8 + objectformat.Size + 2 // without the path
	maxStatCache     = 1 << 29                         // bytes; a cache of two million files has 200 MB
	maxCachedPath    = 1<<16 - 1
	worthPerFile     = 32 << 10 // bytes that can be written while a few saves read a small file, or read at once
	worthPerByte     = 4
	racyMargin       = 20 * time.Millisecond // ticks of a second file system may be later
	racyMarginCoarse = 2 * time.Second       // timestamps of FAT
)

// openStatCache returns the cache of the worktree, and a function that closes it.
func (s *Capturer) openStatCache(req Request) (c *statCache, done func()) {
	c = newStatCache()
	c.path, c.makeDir, c.replace = filepath.Join(s.repo.StateDir(), "stat-cache"), s.repo.Objects.MakeDirs, s.repo.WriteUnsynced
	c.reread, c.dry = req.Reread, req.DryRun
	root, err := index.OpenDir(s.repo.Info.Root)
	if err != nil {
		return c, func() {}
	}
	c.root = root
	return c, func() { root.Close() }
}

func newStatCache() *statCache {
	return &statCache{assumed: map[directoryKey]bool{}, attributes: map[string]bool{}, added: map[string]cachedFile{}}
}

// entries returns the number of entries of the cache file.
func (c *statCache) entries() int {
	c.load.Do(func() {
		info, err := os.Lstat(c.path)
		if c.reread || err != nil || !info.Mode().IsRegular() || info.Size() > maxStatCache {
			return
		}
		data, err := os.ReadFile(c.path)
		if err != nil {
			return
		}
		if at := parseStatCache(data); at != nil {
			c.data, c.at, c.used = data, at, make([]bool, len(at))
		}
	})
	return len(c.at)
}

// parseStatCache returns the offsets of the entries of a cache, nil if its form is not valid.
func parseStatCache(data []byte) []uint32 {
	end := len(data) - sha256.Size
	if end < statCacheHead || string(data[:len(statCacheMagic)]) != statCacheMagic || data[len(statCacheMagic)] != objectformat.Size {
		return nil
	}
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil
	}
	count := int(binary.BigEndian.Uint32(data[statCacheHead-4:]))
	if count > end/cachedFileSize {
		return nil
	}
	at := make([]uint32, count)
	next := statCacheHead
	for i := range at {
		at[i] = uint32(next)
		if next += cachedFileSize; next > end {
			return nil
		}
		if next += int(binary.BigEndian.Uint16(data[next-2:])); next > end {
			return nil
		}
	}
	return at
}

// name returns the path of an entry.
func (c *statCache) name(i int) []byte {
	start := int(c.at[i]) + cachedFileSize
	return c.data[start : start+int(binary.BigEndian.Uint16(c.data[start-2:]))]
}

// file returns an entry.
func (c *statCache) file(i int) (f cachedFile) {
	data := c.data[c.at[i]:]
	for n, field := range f.fields() {
		*field = binary.BigEndian.Uint32(data[4*n:])
	}
	f.key = binary.BigEndian.Uint64(data[36:])
	copy(f.hash[:], data[44:])
	return f
}

// find returns the number of the entry with a path, or -1. The search begins at *near, and
// sets it to the next entry, so that paths in their order are found at once.
func (c *statCache) find(name string, near *int) int {
	n := c.entries()
	i := *near
	if i >= n || string(c.name(i)) > name {
		i = 0
	}
	for step := 0; i < n && string(c.name(i)) < name; step++ {
		if i++; step == 4 {
			i += sort.Search(n-i, func(k int) bool { return string(c.name(i+k)) >= name })
			break
		}
	}
	*near = i
	if i == n || string(c.name(i)) != name {
		return -1
	}
	return i
}

// fields returns the stat data in the order of the file.
func (f *cachedFile) fields() [9]*uint32 {
	s := &f.stat
	return [...]*uint32{&s.CTime.Sec, &s.CTime.Nsec, &s.MTime.Sec, &s.MTime.Nsec, &s.Dev, &s.Ino, &s.UID, &s.GID, &s.Size}
}

// blob returns the blob of a file, or zero.
func (c *statCache) blob(name string, found foundFile, key uint64, near *int) plumbing.Hash {
	i := c.find(name, near)
	if i < 0 || key == 0 {
		return plumbing.ZeroHash
	}
	f := c.file(i)
	if f.stat != found.stat || f.key != key {
		return plumbing.ZeroHash
	}
	c.used[i] = true
	return f.hash
}

// compare reports whether a file equals its staged blob, provided that its directory has the
// returned key, and whether the content of the file is known. It is safe for concurrent use.
func (c *statCache) compare(name string, found foundFile, staged plumbing.Hash, near *int) (key uint64, unchanged, known bool) {
	i := c.find(name, near)
	if i < 0 {
		return 0, false, false
	}
	f := c.file(i)
	if f.stat != found.stat {
		return 0, false, false
	}
	if f.hash != staged {
		return 0, false, true
	}
	c.used[i] = true
	return withStaged(f.key, staged), true, true
}

// withStaged adds a staged blob to the key of a directory, or removes it again. Git keeps the
// carriage returns of a file that is staged with some.
func withStaged(key uint64, staged plumbing.Hash) uint64 {
	return key ^ binary.BigEndian.Uint64(staged[:])
}

// assume records keys of directories that compare has returned, and attributes files of the
// index. It is safe for concurrent use.
func (c *statCache) assume(keys map[directoryKey]bool, attributes []string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	maps.Copy(c.assumed, keys)
	for _, file := range attributes {
		c.attributes[file] = true
	}
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
func (c *statCache) forget() {
	c.data, c.at, c.used = nil, nil, nil
	clear(c.assumed)
}

// tick reads the clock of the file system before the first read of a file.
func (c *statCache) tick() {
	c.ticks.Do(func() {
		dir := filepath.Dir(c.path)
		if c.root == nil || c.dry || c.makeDir(dir) != nil {
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
	c.added[name] = cachedFile{stat, key, hash}
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

// save replaces the cache file if the write is cheaper than reads of the added files in the
// next saves, or if the save has not found most entries. It removes entries that the save has
// not found if the save is complete. After an error, the next save reads the files again.
func (c *statCache) save(complete bool) {
	if c.root == nil || c.dry {
		return
	}
	used := 0
	for _, is := range c.used {
		if is {
			used++
		}
	}
	if c.worth <= int64(len(c.data)) && (!complete || len(c.at) <= 2*used) {
		return
	}
	kept := c.added
	for i := range c.at {
		name := string(c.name(i))
		if _, again := kept[name]; !again && (c.used[i] || !complete) {
			kept[name] = c.file(i)
		}
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
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
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

// knownBlobs finds the blobs of worktree files in the stat cache. It is used by one goroutine.
// The caller closes dirs.
type knownBlobs struct {
	cache  *statCache
	hasher *convert.Hasher
	dirs   *realDirs
	near   int // entry of the cache
}

// find returns the blob of a regular file with its stat data found, or zero if the cache does not
// know it. staged is the blob of its index entry, or zero. key is that of the file in the cache.
func (k *knownBlobs) find(path string, found foundFile, staged plumbing.Hash) (key uint64, blob plumbing.Hash) {
	if key = k.hasher.Key(path); key != 0 {
		key = withStaged(key, staged)
	}
	return key, k.cache.blob(path, found, key, &k.near)
}
