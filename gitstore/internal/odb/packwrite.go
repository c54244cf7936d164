package odb

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/gitstore/fsutil"
)

// FlushPack writes all added objects as one pack with git index-pack, which checks and
// syncs the pack. Rewriting many commits uses FlushPack to avoid thousands of loose
// files. Unlike Flush, FlushPack also writes objects that exist already, because a
// concurrent gc may have decided to delete their files.
func (b *Batch) FlushPack(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := b.flushPack(ctx)
	return err
}

// FlushKept writes a pack like FlushPack and protects it from gc with a .keep file,
// whether or not refs reach its objects. The caller calls release after a ref points to
// the objects. The .keep file contains by. ReleaseKept removes .keep files of killed
// processes.
func (b *Batch) FlushKept(ctx context.Context, by string) (release func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	said, err := b.flushPack(ctx, "--keep="+by)
	if err != nil {
		return func() {}, err
	}
	// Output is "keep" if git made the .keep file, a tab and the pack's hash.
	kind, name, _ := strings.Cut(strings.TrimSpace(string(said)), "\t")
	if kind != "keep" {
		return func() {}, nil
	}
	return func() { _ = os.Remove(b.store.keepFile(name)) }, nil
}

func (s *Database) keepFile(name string) string {
	return filepath.Join(s.cfg.Dir, "pack", "pack-"+name+".keep")
}

// ReleaseKept removes all .keep files with content by, for packs of any name.
func (s *Database) ReleaseKept(by string) {
	dir := filepath.Join(s.cfg.Dir, "pack")
	names, _ := readNames(dir)
	for _, name := range names {
		if !strings.HasSuffix(name, ".keep") {
			continue
		}
		file := filepath.Join(dir, name)
		if text, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(text)) == by {
			_ = os.Remove(file)
		}
	}
}

func (b *Batch) flushPack(ctx context.Context, flags ...string) (said []byte, err error) {
	f := b.store.newFlush()
	f.others = b.others
	write, err := f.keep(b.kept)
	if err != nil {
		return nil, err
	}
	if err := f.write(write); err != nil {
		return nil, err
	}
	if err := f.syncDirs(); err != nil {
		return nil, err
	}
	if len(b.objects) == 0 {
		return nil, nil
	}
	if b.store.cfg.Git == nil {
		return nil, fmt.Errorf("write pack of %d objects: no git to run", len(b.objects))
	}
	data, err := packStream(b.objects)
	if err == nil {
		said, err = b.store.indexPack(ctx, data, flags)
	}
	if err != nil {
		return nil, fmt.Errorf("write pack of %d objects: %w", len(b.objects), err)
	}
	b.store.refresh()
	// Git syncs the files but not their names.
	for _, dir := range []string{filepath.Join(b.store.cfg.Dir, "pack"), b.store.cfg.Dir} {
		if err := fsutil.SyncDir(dir); err != nil {
			return nil, fmt.Errorf("sync directory: %w", err)
		}
	}
	return said, nil
}

// indexPack stores a pack with git index-pack. A concurrent `git gc --prune=now` may
// delete files that git is writing or comparing; indexPack then retries. tookAway matches
// git's messages in the C locale.
func (s *Database) indexPack(ctx context.Context, data []byte, flags []string) ([]byte, error) {
	args := append([]string{"-c", "core.fsync=pack,pack-metadata", "index-pack", "--stdin"}, flags...)
	for tries := 0; ; tries++ {
		said, err := s.cfg.Git(ctx, data, args...)
		if err == nil || tries == collections || !tookAway(err.Error()) {
			return said, err
		}
	}
}

func tookAway(said string) bool {
	return strings.Contains(said, "No such file or directory") || strings.Contains(said, "cannot read existing object")
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
	sum := sha1.Sum(out.Bytes())
	out.Write(sum[:])
	return out.Bytes(), nil
}

// entryHead encodes type and size, the inverse of parseEntrySize.
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
