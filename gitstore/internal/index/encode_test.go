package index

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
)

// A raw is an entry for encode, which also writes invalid indexes.
type raw struct {
	path  string
	mode  uint32 // 0 means a regular file
	hash  plumbing.Hash
	stage int
	more  uint16
}

func paths(names ...string) (list []raw) {
	for _, n := range names {
		list = append(list, raw{path: n, hash: blobOf(n)})
	}
	return list
}

func blobOf(content string) plumbing.Hash {
	return plumbing.ComputeHash(plumbing.BlobObject, []byte(content))
}

// encode returns an index file.
func encode(version int, entries []raw, extensions ...[]byte) []byte {
	b := []byte("DIRC")
	b = binary.BigEndian.AppendUint32(b, uint32(version))
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	before := ""
	for _, e := range entries {
		b = appendEntry(b, version, e, before)
		before = e.path
	}
	b = append(b, bytes.Join(extensions, nil)...)
	sum := objectformat.New()
	sum.Write(b)
	return sum.Sum(b)
}

func appendEntry(b []byte, version int, e raw, before string) []byte {
	start := len(b)
	b = append(b, make([]byte, 24)...)
	if e.mode == 0 {
		e.mode = 0o100644
	}
	b = binary.BigEndian.AppendUint32(b, e.mode)
	b = append(b, make([]byte, 12)...)
	b = append(b, e.hash[:]...)
	flags := uint16(e.stage<<12) | uint16(min(len(e.path), flagLength))
	if e.more != 0 {
		flags |= flagExtended
	}
	b = binary.BigEndian.AppendUint16(b, flags)
	if e.more != 0 {
		b = binary.BigEndian.AppendUint16(b, e.more)
	}
	if version == 4 {
		same := common([]byte(before), []byte(e.path))
		b = appendVarint(b, uint64(len(before)-same))
		return append(append(b, e.path[same:]...), 0)
	}
	b = append(b, e.path...)
	return append(b, make([]byte, 8-(len(b)-start)%8)...)
}

func appendVarint(b []byte, v uint64) []byte {
	tmp := []byte{byte(v & 0x7f)}
	for v >>= 7; v > 0; v >>= 7 {
		v--
		tmp = append(tmp, byte(v&0x7f)|0x80)
	}
	for i := len(tmp) - 1; i >= 0; i-- {
		b = append(b, tmp[i])
	}
	return b
}

func extension(name, data string) []byte {
	b := binary.BigEndian.AppendUint32([]byte(name), uint32(len(data)))
	return append(b, data...)
}

// treeNode returns a node of a TREE extension.
func treeNode(name string, entries, children int, hash plumbing.Hash) string {
	s := fmt.Sprintf("%s\x00%d %d\n", name, entries, children)
	if entries < 0 {
		return s
	}
	return s + string(hash[:])
}
