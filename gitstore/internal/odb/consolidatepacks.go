package odb

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"

	"github.com/go-git/go-git/v5/plumbing"
)

// onePack is the number of objects up to which all packs of this program become one pack.
// One pack has the best deltas. Packing 20,000 objects again takes less than a second,
// because git copies existing deltas.
const onePack = 20_000

func (c *consolidation) ownPacks() []*pack {
	c.s.life.RLock()
	defer c.s.life.RUnlock()
	return c.s.all()[0].list()
}

func (c *consolidation) has(p *pack, ext string) bool { return fsutil.Exists(p.path + "." + ext) }

// holder returns a pack of this objects directory with an intact copy, or nil. Packs of
// alternates and cruft packs do not count.
func (c *consolidation) holder(h plumbing.Hash) *pack {
	for _, p := range c.ownPacks() {
		if c.has(p, "mtimes") || p.unfinished() == 1 {
			continue
		}
		if c.intact(p, h) == nil {
			return p
		}
	}
	return nil
}

// settlePacked makes packs with copies of loose objects durable, because the loose files
// will be deleted. A killed call left its pack without a sync and without a note.
// settlePacked notes it, so that it is replaced later.
func (c *consolidation) settlePacked() error {
	if len(c.holders) == 0 {
		return nil
	}
	var files []string
	for _, p := range c.holders {
		files = append(files, p.path+".pack", p.path+".idx", p.path+".rev")
	}
	if err := c.s.SyncFiles(files); err != nil {
		return err
	}
	for _, p := range c.holders {
		name := filepath.Base(p.path)
		if slices.Contains(c.o.Packs, name) || !c.isPlain(p) || !c.isOwn(p) {
			continue
		}
		if err := c.o.Note(name); err != nil {
			return err
		}
		c.o.Packs = append(slices.Clip(c.o.Packs), name)
	}
	return nil
}

// isOwn reports whether all objects of a pack are loose objects of the caller or in packs
// of this program. The pack of a killed call has no other objects.
func (c *consolidation) isOwn(p *pack) bool {
	objects, err := p.objects()
	return err == nil && !slices.ContainsFunc(objects, func(h plumbing.Hash) bool { return !c.seen[h] && !c.isNoted(h) })
}

// isNoted reports whether an object is in a pack of this program.
func (c *consolidation) isNoted(h plumbing.Hash) bool {
	return slices.ContainsFunc(c.ownPacks(), func(p *pack) bool {
		if !slices.Contains(c.o.Packs, filepath.Base(p.path)) {
			return false
		}
		_, ok, err := p.find(h)
		return ok && err == nil
	})
}

var errNotInPack = errors.New("the object is not in the pack")

// intact reads an object from a pack and compares its hash.
func (c *consolidation) intact(p *pack, h plumbing.Hash) error {
	f, err := p.locate(h)
	if err != nil {
		return err
	}
	t, content, err := f.read(&c.s.cache)
	if err == nil && Name(t, content) != h {
		err = &CorruptObjectError{Path: p.path + ".pack", Msg: "object " + h.String() + " has another hash"}
	}
	return err
}

// locate returns the place of an object. It fails with errNotInPack.
func (p *pack) locate(h plumbing.Hash) (found, error) {
	off, ok, err := p.find(h)
	if err == nil && !ok {
		err = errNotInPack
	}
	return found{hash: h, pack: p, off: off}, err
}

// addPacks adds packs of this program, smallest first. Above onePack objects, it adds a
// pack only if the pack is less than twice as large as all objects before it.
func (c *consolidation) addPacks() {
	if c.packsInUse() {
		return
	}
	type counted struct {
		*pack
		names []plumbing.Hash
	}
	var list []counted
	for _, p := range c.ownPacks() {
		if !slices.Contains(c.o.Packs, filepath.Base(p.path)) || !c.isPlain(p) {
			continue
		}
		if objects, err := p.objects(); err == nil {
			list = append(list, counted{p, objects})
		}
	}
	slices.SortFunc(list, func(a, b counted) int { return len(a.names) - len(b.names) })
	for _, p := range list {
		if len(c.objects)+len(p.names) > onePack && len(p.names) >= 2*len(c.objects) {
			return
		}
		c.old = append(c.old, p.pack)
		for _, h := range p.names {
			c.add(h)
		}
	}
}

// packsInUse reports whether git uses the names of packs: it maintains the repository,
// writes packs, or has a multi-pack index. Git fails if a pack of the index is missing.
func (c *consolidation) packsInUse() bool {
	if c.o.IsMaintained != nil && c.o.IsMaintained() {
		return true
	}
	names, err := readNames(c.dir)
	return err != nil || slices.ContainsFunc(names, func(name string) bool {
		// Git repack has no lock. Its new packs have names with .tmp- until all are complete.
		isUnfinished := name == "multi-pack-index.lock" || strings.HasPrefix(name, ".tmp-") || strings.HasPrefix(name, "tmp_pack_")
		return name == "multi-pack-index" || name == "multi-pack-index.d" ||
			isUnfinished && fsutil.IsYounger(filepath.Join(c.dir, name), abandoned)
	})
}

// abandoned is the age from which files of a running git count as left by a killed git.
const abandoned = 12 * time.Hour

// isPlain reports whether a pack may be replaced: it has no file of git beside it, such as
// .keep.
func (c *consolidation) isPlain(p *pack) bool {
	return !slices.ContainsFunc([]string{"keep", "mtimes", "promisor", "bitmap"}, func(ext string) bool { return c.has(p, ext) })
}

// objects returns the names of all objects of a pack.
func (p *pack) objects() (list []plumbing.Hash, err error) {
	x, err := p.index()
	if err != nil {
		return nil, err
	}
	err = withPath(p.path+".idx", guard(func() error {
		for i := range x.count {
			list = append(list, plumbing.Hash(x.name(i)))
		}
		return nil
	}))
	return list, err
}

// removePacks deletes the replaced packs. Since addPacks, git may have started to use them.
// They then stay until the next call.
func (c *consolidation) removePacks(result *Consolidated) error {
	for _, p := range c.old {
		name := filepath.Base(p.path)
		if name == c.created || !c.isPlain(p) {
			continue
		}
		if c.packsInUse() {
			return nil
		}
		// The index first, as git does: without it, git ignores the other files.
		for _, ext := range []string{".idx", ".rev", ".pack"} {
			if err := os.Remove(p.path + ext); err != nil && !gone(err) {
				return err
			}
			c.done("remove pack", p.path+ext)
		}
		result.Removed = append(result.Removed, name)
	}
	return nil
}
