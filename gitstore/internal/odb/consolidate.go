package odb

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// largestPacked is the size limit in bytes for objects that Consolidate packs. Git and the
// check of the pack hold whole objects in memory. Larger objects stay loose until git gc
// packs them. They are few, and git has such a limit too (core.bigFileThreshold).
const largestPacked = 4 << 20

// checkedAtOnce limits the bytes of the objects that the check of a pack reads at once. To
// read an object of a pack takes several times its size.
const checkedAtOnce = 8 << 20

// window is the number of objects that git compares with each new object. Trees, records
// and commits of successive turns are small and alike: with git's default of 10, packs of
// turns are a sixth larger.
const window = "--window=250"

// windowMemory limits the bytes of these objects in each thread of git. It has no effect on
// small objects, and leaves more than git's default of 10 objects of largestPacked.
const windowMemory = "--window-memory=64m"

// packObjects is the git command that writes one pack, with any settings of the user.
var packObjects = []string{
	"-c", "core.fsync=pack,pack-metadata",
	"-c", "pack.packSizeLimit=0", // a limit makes git write several packs
	"pack-objects", "-q", "--delta-base-offset", window, windowMemory,
}

// ConsolidateOptions are the options of Consolidate.
type ConsolidateOptions struct {
	// Packs are the names of packs of this program, which the new pack may replace.
	Packs []string
	// Note records the name of a new pack before a file is deleted.
	Note func(pack string) error
	// IsMaintained reports whether git gc or git maintenance runs. Packs then stay. It may
	// be nil.
	IsMaintained func() bool
}

// A Consolidated is the result of Consolidate.
type Consolidated struct {
	Pack    string          // name of the new pack, "" if no object had to be packed
	Removed []string        // names of the packs that the new pack replaces
	Loose   []plumbing.Hash // objects that are still loose
}

// Consolidate packs loose objects of this program, and deletes their loose files. It also
// replaces small packs of this program, so that few packs remain. It touches no other
// file. Each step is durable before the next begins:
//
//   - git pack-objects writes the pack and syncs it. A killed process leaves a temporary
//     file, which git gc deletes.
//   - Consolidate reads each object from the pack and compares its hash.
//   - Note records the pack's name.
//   - The directory is synced.
//   - The loose files and the replaced packs are deleted.
//
// If a process is killed between two steps, objects exist twice. The next call then syncs
// and notes the pack, and deletes the loose files. A concurrent reader that misses a deleted
// file lists the packs again, as git does. The caller passes only objects that refs or reflogs
// reached after they were written. A concurrent git repack or gc therefore copies them before
// it deletes the new pack.
func (s *Database) Consolidate(ctx context.Context, loose []plumbing.Hash, o ConsolidateOptions) (*Consolidated, error) {
	c := &consolidation{s: s, o: o, dir: s.packDir(), seen: map[plumbing.Hash]bool{}, added: map[plumbing.Hash]bool{}}
	s.Refresh()
	for _, h := range loose {
		if err := c.addLoose(h); err != nil {
			return nil, err
		}
	}
	if err := c.settlePacked(); err != nil {
		return nil, fmt.Errorf("packs of loose objects: %w", err)
	}
	if len(c.objects) > 0 {
		c.addPacks()
		if err := c.pack(ctx); err != nil {
			return nil, fmt.Errorf("pack %d objects: %w", len(c.objects), err)
		}
	}
	return c.remove()
}

func (s *Database) packDir() string { return filepath.Join(s.cfg.Dir, "pack") }

// A consolidation is the state of one Consolidate call.
type consolidation struct {
	s       *Database
	o       ConsolidateOptions
	dir     string
	objects []plumbing.Hash        // objects of the new pack
	seen    map[plumbing.Hash]bool // loose objects of the caller
	added   map[plumbing.Hash]bool // objects of the new pack
	packed  []plumbing.Hash        // loose objects that a pack has too
	holders []*pack                // packs of these objects
	kept    []plumbing.Hash        // loose objects that stay loose
	old     []*pack                // packs to replace
	created string                 // name of the new pack
}

// addLoose adds a loose object, unless its file no longer exists.
func (c *consolidation) addLoose(h plumbing.Hash) error {
	if c.seen[h] {
		return nil
	}
	c.seen[h] = true
	info, err := os.Lstat(c.s.loosePath(h))
	switch {
	case gone(err):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular() || c.isLarge(h):
		c.kept = append(c.kept, h)
		return nil
	}
	if p := c.holder(h); p != nil {
		c.packed = append(c.packed, h)
		if !slices.Contains(c.holders, p) {
			c.holders = append(c.holders, p)
		}
		return nil
	}
	if _, _, err := readLoose(c.s.loosePath(h)); err != nil {
		c.kept = append(c.kept, h) // verify reports a damaged object
		return nil
	}
	c.add(h)
	return nil
}

// isLarge reports whether a loose object exceeds largestPacked. A large log has a small
// file, so the size in the object's header counts.
func (c *consolidation) isLarge(h plumbing.Hash) bool {
	_, size, err := headLoose(c.s.loosePath(h))
	return err == nil && size > largestPacked
}

// add adds an object to the new pack.
func (c *consolidation) add(h plumbing.Hash) {
	if !c.added[h] {
		c.added[h] = true
		c.objects = append(c.objects, h)
	}
}

// pack writes the new pack, and checks that it contains all objects.
func (c *consolidation) pack(ctx context.Context) error {
	var in bytes.Buffer
	for _, h := range c.objects {
		in.WriteString(h.String() + "\n")
	}
	said, err := c.s.cfg.Git(ctx, in.Bytes(), slices.Concat(packObjects, []string{filepath.Join(c.dir, "pack")})...)
	if err != nil {
		return err
	}
	c.created = "pack-" + strings.TrimSpace(string(said))
	c.done("pack", c.created)
	c.s.Refresh()
	at := slices.IndexFunc(c.ownPacks(), func(p *pack) bool { return filepath.Base(p.path) == c.created })
	if at < 0 {
		return fmt.Errorf("git wrote no pack %s", c.created)
	}
	if err := c.check(c.ownPacks()[at]); err != nil {
		return err
	}
	if err := c.o.Note(c.created); err != nil {
		return err
	}
	c.done("note", c.created)
	if err := fsutil.SyncDir(c.dir); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	c.done("sync", c.dir)
	return nil
}

// check reads all objects from the new pack and compares their hashes.
func (c *consolidation) check(p *pack) error {
	limit := newByteLimit(checkedAtOnce)
	return parallel(len(c.objects), func(i int) error {
		h := c.objects[i]
		f, err := p.locate(h)
		var size int64
		if err == nil {
			_, size, err = f.header()
		}
		if err == nil {
			limit.acquire(size)
			defer limit.release(size)
			err = c.intact(p, h)
		}
		if err != nil {
			return fmt.Errorf("check object %s in %s: %w", h, c.created, err)
		}
		return nil
	})
}

func (c *consolidation) done(step, path string) {
	if c.s.trace != nil {
		c.s.trace(step, path)
	}
}

// remove deletes the loose files and packs that the new pack replaces.
func (c *consolidation) remove() (*Consolidated, error) {
	result := &Consolidated{Pack: c.created, Loose: c.kept}
	for _, h := range slices.Concat(c.objects, c.packed) {
		if !c.seen[h] { // from a replaced pack
			continue
		}
		path := c.s.loosePath(h)
		if err := os.Remove(path); err != nil && !gone(err) {
			result.Loose = append(result.Loose, h)
		}
		c.done("remove", path)
	}
	err := c.removePacks(result)
	c.s.Refresh()
	return result, err
}

// A byteLimit limits the memory of concurrent calls.
type byteLimit struct {
	mu    sync.Mutex
	freed *sync.Cond
	total int64
	used  int64
}

func newByteLimit(total int64) *byteLimit {
	l := &byteLimit{total: total}
	l.freed = sync.NewCond(&l.mu)
	return l
}

// acquire waits until n bytes are free. If n exceeds the limit, it waits until all bytes
// are free.
func (l *byteLimit) acquire(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.used > 0 && l.used+n > l.total {
		l.freed.Wait()
	}
	l.used += n
}

// release frees the bytes of an acquire.
func (l *byteLimit) release(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used -= n
	l.freed.Broadcast()
}
