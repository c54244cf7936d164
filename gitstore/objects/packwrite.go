package objects

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
)

// FlushPack writes all added objects as one pack through git index-pack,
// which checks and syncs it. It is made for rewriting many commits, where
// loose objects would take a file each. Unlike Flush it writes what exists
// already once more, so that nothing depends on files that a running gc has
// decided to remove.
func (b *Batch) FlushPack(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.store.newFlush()
	write, err := f.keep(b.kept)
	if err != nil {
		return err
	}
	if err := f.write(write); err != nil {
		return err
	}
	if err := f.syncDirs(); err != nil {
		return err
	}
	if len(b.objects) == 0 {
		return nil
	}
	if b.store.cfg.Git == nil {
		return fmt.Errorf("write pack of %d objects: no git to run", len(b.objects))
	}
	data, err := packStream(b.objects)
	if err == nil {
		err = b.store.indexPack(ctx, data)
	}
	if err != nil {
		return fmt.Errorf("write pack of %d objects: %w", len(b.objects), err)
	}
	b.store.refresh()
	// Git syncs the files but not their names.
	for _, dir := range []string{filepath.Join(b.store.cfg.Dir, "pack"), b.store.cfg.Dir} {
		if err := syncDir(dir); err != nil {
			return fmt.Errorf("sync directory: %w", err)
		}
	}
	return nil
}

// indexPack lets git store a pack. A gc that prunes everything takes the files
// that git is writing: then once more. The message is git's own, in the C
// locale.
func (s *Store) indexPack(ctx context.Context, data []byte) error {
	for tries := 0; ; tries++ {
		_, err := s.cfg.Git(ctx, data, "-c", "core.fsync=pack,pack-metadata", "index-pack", "--stdin")
		if err == nil || tries == collections || !strings.Contains(err.Error(), "No such file or directory") {
			return err
		}
	}
}

// packStream makes a pack of whole objects: a header with their number, each
// one's type, size and zlib stream, and a checksum.
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

// entryHead is the inverse of parseEntrySize.
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
