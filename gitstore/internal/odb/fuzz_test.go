package odb

import (
	"bytes"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

func FuzzIdx(f *testing.F) {
	items := []item{{name: name(0)}, {name: name(1)}, {name: name(0xff)}}
	f.Add(indexOf(items, []int64{12, 20, 40}), []byte{1})
	f.Add(make([]byte, fanoutLen+idxTrailer), []byte{})
	f.Fuzz(func(t *testing.T, data, want []byte) {
		x, err := parseIdx(data)
		if err != nil {
			return
		}
		var h plumbing.Hash
		copy(h[:], want)
		_, _, _ = x.find(h)
		for i := range x.count {
			off, err := x.offset(i)
			require.True(t, err != nil || off >= 0)
			_, _, _ = x.find(plumbing.Hash(x.name(i)))
		}
	})
}

func FuzzEntry(f *testing.F) {
	f.Add(headOf(plumbing.BlobObject, 1000))
	f.Add(refTo(plumbing.REFDeltaObject, 4, name(1)))
	f.Add(append(headOf(plumbing.OFSDeltaObject, 4), 0x81, 0x01))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parseEntry(data)
		if err != nil {
			return
		}
		require.True(t, e.size >= 0 && e.back >= 0 && len(e.data) < len(data))
		if e.size < 1<<20 {
			again, err := parseEntry(append(headOf(e.kind, int(e.size)), data...))
			if err == nil {
				require.Equal(t, e.size, again.size)
				require.Equal(t, e.kind, again.kind)
			}
		}
	})
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte("content"), []byte{7, 7, 0x90, 7})
	f.Add([]byte("content"), []byte{7, 9, 2, 'a', 'b', 0x90, 7})
	f.Add(bytes.Repeat([]byte("x"), copyDefault), []byte{0x80, 0x80, 4, 0x80, 0x80, 4, 0x80})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		out, err := applyDelta(base, delta, maxObject)
		if err != nil {
			return
		}
		from, to, _, err := deltaSizes(delta)
		require.NoError(t, err)
		require.Equal(t, int64(len(base)), from)
		require.Equal(t, int64(len(out)), to)
		n := min(len(out), 100)
		ops, need, err := firstOps(delta, n)
		if err != nil {
			require.ErrorIs(t, err, ErrTooLarge)
			return
		}
		first, err := applyOps([][]op{ops}, base[:need])
		require.NoError(t, err)
		require.Equal(t, string(out[:n]), string(first))
	})
}

func FuzzLoose(f *testing.F) {
	f.Add(deflate([]byte("blob 7\x00content")))
	f.Add(stored([]byte("tree 0\x00")))
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, content, err := parseLoose(data)
		if err != nil {
			return
		}
		headKind, size, err := parseLooseHead(data)
		require.NoError(t, err)
		require.Equal(t, kind, headKind)
		require.Equal(t, int64(len(content)), size)
		var z compressor
		again, err := z.looseData(&added{kind: kind, content: content})
		require.NoError(t, err)
		kind2, content2, err := parseLoose(again)
		require.NoError(t, err)
		require.Equal(t, kind, kind2)
		require.True(t, bytes.Equal(content, content2))
	})
}

// FuzzPack reads arbitrary bytes as a pack, at each offset.
func FuzzPack(f *testing.F) {
	r, _ := inMemory(f,
		item{name(1), headOf(plumbing.BlobObject, 7), deflate([]byte("content"))},
		item{name(2), refTo(plumbing.REFDeltaObject, 4, name(1)), deflate([]byte{7, 7, 0x90, 7})},
		item{name(3), append(headOf(plumbing.OFSDeltaObject, 4), 37), deflate([]byte{7, 7, 0x90, 7})},
	)
	f.Add(r.file.data)
	f.Fuzz(func(_ *testing.T, data []byte) {
		r := r
		r.file = &region{data: data, size: int64(len(data))}
		c := new(baseCache)
		for off := range min(int64(len(data)), 400) {
			_, _, _ = r.read(off, c)
			_, _, _ = r.header(off)
			_, _, _ = r.start(off, 100)
		}
	})
}

func FuzzAlternates(f *testing.F) {
	f.Add("# c\n\"a\\303\\251\"\n/b", "\n")
	f.Add("\"a:b\":c", ":")
	f.Fuzz(func(t *testing.T, s, sep string) {
		if sep == "" {
			return
		}
		for _, dir := range parseAlternates(s, sep) {
			require.NotEmpty(t, dir)
		}
	})
}

func FuzzBatchAnswer(f *testing.F) {
	f.Add([]byte(absent.String() + " blob 7\ncontent\n"))
	f.Add([]byte(absent.String() + " missing\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		_, content, err := parseBatch(out, absent)
		require.True(t, err != nil || len(content) < len(out))
	})
}
