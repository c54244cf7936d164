package odb

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Batch collects objects in memory until Install writes them together.
type Batch struct {
	store *Database

	objects []*added
	known   map[plumbing.Hash]*added // objects by hash
	kept    []plumbing.Hash
	keeps   map[plumbing.Hash]bool // hashes of kept
	others  []string               // see Sync
}

type added struct {
	hash    plumbing.Hash
	kind    plumbing.ObjectType
	content []byte
}

// NewBatch returns an empty batch.
func (s *Database) NewBatch() *Batch {
	return &Batch{store: s, known: map[plumbing.Hash]*added{}, keeps: map[plumbing.Hash]bool{}}
}

// Add copies an object into the batch and returns its hash. Add writes no file, and reads
// of the database do not find the object before Install.
func (b *Batch) Add(t plumbing.ObjectType, content []byte) plumbing.Hash {
	h := Name(t, content)
	if b.known[h] == nil {
		b.known[h] = &added{h, t, slices.Clone(content)}
		b.objects = append(b.objects, b.known[h])
	}
	return h
}

// Find returns an added object. The caller must not change the content.
func (b *Batch) Find(h plumbing.Hash) (t plumbing.ObjectType, content []byte, found bool) {
	if o := b.known[h]; o != nil {
		return o.kind, o.content, true
	}
	return 0, nil, false
}

// Keep adds an existing object to the batch. Install freshens the object, makes it durable
// like an added object, and fails if the object is missing. Git itself does not sync
// blobs that `git add` writes.
func (b *Batch) Keep(h plumbing.Hash) {
	if !b.keeps[h] {
		b.keeps[h] = true
		b.kept = append(b.kept, h)
	}
}

// AddKept adds copies of the kept objects that can be read.
func (b *Batch) AddKept() {
	for _, h := range b.kept {
		if t, content, err := b.store.Read(h); err == nil {
			b.Add(t, content)
		}
	}
}

// AddTo copies the added and kept objects of the batch to another batch.
func (b *Batch) AddTo(other *Batch) {
	for _, o := range b.objects {
		other.Add(o.kind, o.content)
	}
	for _, h := range b.kept {
		other.Keep(h)
	}
}

// IsEmpty reports whether the batch has neither added nor kept objects.
func (b *Batch) IsEmpty() bool { return len(b.objects)+len(b.kept) == 0 }

// Sync makes Install sync files and directories of other programs together with the objects. Files that
// were removed, or that this user cannot read, do not matter.
func (b *Batch) Sync(paths []string) { b.others = paths }

// keptOnly returns the kept objects that were not added too.
func (b *Batch) keptOnly() []plumbing.Hash {
	return slices.DeleteFunc(slices.Clone(b.kept), func(h plumbing.Hash) bool { return b.known[h] != nil })
}

// Missing returns the hashes of added and kept objects that the database does not contain
// now. It detects objects in packs that a concurrent gc has removed.
func (b *Batch) Missing() (missing []plumbing.Hash) {
	refresh := sync.OnceFunc(b.store.Refresh) // seldom: most objects are loose
	check := func(h plumbing.Hash) {
		if statLoose(b.store.loosePath(h)) == nil {
			return
		}
		if refresh(); !b.store.Has(h) {
			missing = append(missing, h)
		}
	}
	for _, o := range b.objects {
		check(o.hash)
	}
	for _, h := range b.keptOnly() {
		check(h)
	}
	return missing
}

// Name returns the id of an object. It computes a plain hash without collision detection:
// this program has composed the content, or the object is named by its hash already.
func Name(t plumbing.ObjectType, content []byte) (h plumbing.Hash) {
	sum := objectformat.New()
	sum.Write(looseHeader(t, len(content)))
	sum.Write(content)
	sum.Sum(h[:0])
	return h
}

// looseHeader returns the header of a loose object, which its id covers.
func looseHeader(t plumbing.ObjectType, size int) []byte {
	return fmt.Appendf(make([]byte, 0, looseHead), "%s %d\x00", t, size)
}

// FlushPack writes all added objects as one pack with git index-pack, which checks and
// syncs the pack, and returns git's output. flags are options of git. Rewriting many commits
// uses FlushPack to avoid thousands of loose files. Unlike Install, FlushPack also writes
// objects that exist already, because a concurrent gc may have decided to delete their files.
// If a kept object is missing, FlushPack fails after it has written all others.
func (b *Batch) FlushPack(ctx context.Context, flags ...string) (said []byte, err error) {
	f := b.store.newFlush()
	write, keepErr := f.keep(b.keptOnly())
	if err = f.write(write); err == nil {
		err = f.syncDirs()
	}
	if err == nil && len(b.objects) > 0 {
		said, err = b.store.writePack(ctx, b.objects, flags)
	}
	return said, cmp.Or(err, keepErr)
}

// FlushKept writes a pack like FlushPack and protects it from gc with a .keep file,
// whether or not refs reach its objects. The caller calls release after a ref points to
// the objects. The .keep file contains by. ReleaseKept removes .keep files of killed
// processes.
func (b *Batch) FlushKept(ctx context.Context, by string) (release func(), err error) {
	said, err := b.FlushPack(ctx, "--keep="+by)
	if err != nil {
		return func() {}, err
	}
	// Output is "keep" if git made the .keep file, a tab and the pack's hash. If a repeated
	// git found the .keep file of the first one, the output is "pack".
	_, name, _ := strings.Cut(strings.TrimSpace(string(said)), "\t")
	file := filepath.Join(b.store.packDir(), "pack-"+name+".keep")
	if !isKeptBy(file, by) {
		return func() {}, nil
	}
	return func() { _ = os.Remove(file) }, nil
}

// isKeptBy reports whether a .keep file has this content.
func isKeptBy(file, by string) bool {
	text, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(text)) == by
}

// ReleaseKept removes all .keep files with content by, for packs of any name.
func (s *Database) ReleaseKept(by string) {
	entries, _ := os.ReadDir(s.packDir())
	for _, e := range entries {
		if file := filepath.Join(s.packDir(), e.Name()); strings.HasSuffix(file, ".keep") && isKeptBy(file, by) {
			_ = os.Remove(file)
		}
	}
}

func (s *Database) packDir() string { return filepath.Join(s.cfg.Dir, "pack") }

// writePack writes objects as one pack with git index-pack. A concurrent `git gc --prune=now`
// may delete files that git is writing or comparing; writePack then retries.
func (s *Database) writePack(ctx context.Context, objects []*added, flags []string) (said []byte, err error) {
	data, err := packStream(objects)
	args := append([]string{"-c", "core.fsync=pack,pack-metadata", "index-pack", "--stdin"}, flags...)
	isTaken := func(err error) bool { // by git's messages in the C locale
		return strings.Contains(err.Error(), "No such file or directory") || strings.Contains(err.Error(), "cannot read existing object")
	}
	if err == nil {
		said, err = s.cfg.Git.Pipe(ctx, data, args...)
		for tries := 0; err != nil && tries < collections && isTaken(err); tries++ {
			said, err = s.cfg.Git.Pipe(ctx, data, args...)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("write pack of %d objects: %w", len(objects), err)
	}
	// Git syncs the files but not their names.
	for _, dir := range []string{s.packDir(), s.cfg.Dir} {
		if err := fsutil.SyncDir(dir); err != nil {
			return nil, fmt.Errorf("sync directory: %w", err)
		}
	}
	return said, nil
}

// packStream returns a pack of whole objects: a header with the object count, type, size
// and zlib stream of each object, and a checksum.
func packStream(objects []*added) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("PACK")
	out.Write(binary.BigEndian.AppendUint32(nil, 2))
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(objects))))
	var z compressor
	for _, o := range objects {
		out.Write(entryHead(o))
		if err := z.write(&out, o.content); err != nil {
			return nil, err
		}
	}
	sum := objectformat.New()
	sum.Write(out.Bytes())
	return sum.Sum(out.Bytes()), nil
}

// entryHead encodes type and size: a continuation bit, a 3-bit type and 4 bits of the size, then
// 7 bits of the size per byte, low bits first.
func entryHead(o *added) []byte {
	size := uint64(len(o.content))
	c := byte(o.kind)<<4 | byte(size&15)
	var b []byte
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(b, c)
}

// A compressor writes zlib streams at the fastest level, as git does for loose objects. It reuses
// its tables, which are larger than most objects.
type compressor struct{ z *zlib.Writer }

// write writes parts as one zlib stream to w.
func (c *compressor) write(w io.Writer, parts ...[]byte) error {
	if c.z == nil {
		c.z, _ = zlib.NewWriterLevel(w, zlib.BestSpeed) // fails only for unknown levels
	} else {
		c.z.Reset(w)
	}
	for _, p := range parts {
		if _, err := c.z.Write(p); err != nil {
			return err
		}
	}
	return c.z.Close()
}
