package odb

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"hash/adler32"
	"io"
)

const (
	oneBlock   = 4096     // block size of most file systems
	fastBelow  = 64 << 10 // size limit for fast compression; larger objects get better compression
	storedSize = 2 + 5 + 4
	storedMax  = 1<<16 - 1
)

// looseData returns the file content of a loose object. Objects that fit in one disk
// block are stored without compression, because compression would save no space.
func (c *compressor) looseData(o *added) ([]byte, error) {
	head := looseHeader(o.kind, len(o.content))
	if len(head)+len(o.content)+storedSize <= oneBlock {
		return stored(head, o.content), nil
	}
	var out bytes.Buffer
	if err := c.write(&out, head, o.content); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// stored returns parts as a zlib stream with one stored block.
func stored(parts ...[]byte) []byte {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	b := make([]byte, 0, size+storedSize)
	b = append(b, 0x78, 0x01, 1) // window of 32 KiB, fastest level; last block, stored
	b = binary.LittleEndian.AppendUint16(b, uint16(size))
	b = binary.LittleEndian.AppendUint16(b, ^uint16(size))
	for _, p := range parts {
		b = append(b, p...)
	}
	return binary.BigEndian.AppendUint32(b, adler32.Checksum(b[7:]))
}

// A compressor writes zlib streams. It reuses its tables, which are larger than most
// objects.
type compressor struct{ fast, best *zlib.Writer }

// write writes parts as one zlib stream to w.
func (c *compressor) write(w io.Writer, parts ...[]byte) error {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	z := c.writer(w, size)
	for _, p := range parts {
		if _, err := z.Write(p); err != nil {
			return err
		}
	}
	return z.Close()
}

func (c *compressor) writer(w io.Writer, size int) *zlib.Writer {
	z, level := &c.fast, flate.BestSpeed
	if size > fastBelow {
		z, level = &c.best, flate.DefaultCompression
	}
	if *z == nil {
		*z, _ = zlib.NewWriterLevel(w, level) // fails only for unknown levels
	} else {
		(*z).Reset(w)
	}
	return *z
}
