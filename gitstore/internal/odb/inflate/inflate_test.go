package inflate

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// streams returns zlib streams with all types of blocks.
func streams(tb testing.TB) [][]byte {
	tb.Helper()
	random := make([]byte, 3000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	all := [][]byte{{0x78, 0x01, 0x03, 0, 0, 0, 0, 1}} // fixed codes, empty content
	for _, content := range [][]byte{
		nil,
		[]byte("content"),
		[]byte(strings.Repeat("the same line\n", 200)),
		random,
	} {
		for _, level := range []int{0, 1, 6, 9, zlib.HuffmanOnly} {
			var b bytes.Buffer
			z, err := zlib.NewWriterLevel(&b, level)
			require.NoError(tb, err)
			_, _ = z.Write(content)
			_ = z.Flush()
			_, _ = z.Write(content)
			_ = z.Close()
			all = append(all, b.Bytes())
		}
	}
	return all
}

// requireSame compares results with compress/zlib, and with compress/flate for the same
// stream without its header and checksum.
func requireSame(t *testing.T, data []byte) {
	t.Helper()
	const limit = 1 << 20
	src := bytes.NewReader(data)
	var want []byte
	z, wantErr := zlib.NewReader(src)
	if wantErr == nil {
		want, wantErr = io.ReadAll(io.LimitReader(z, limit+1))
	}
	out, used, err := Zlib(nil, data, limit)
	if len(want) > limit {
		require.ErrorIs(t, err, ErrMore)
		require.True(t, bytes.Equal(want[:limit], out))
		return
	}
	require.Equal(t, wantErr == nil, err == nil, "%v, not %v", err, wantErr)
	if err == nil {
		require.True(t, bytes.Equal(want, out))
		require.Equal(t, len(data)-src.Len(), used)
	}
	if len(data) < 2 {
		return
	}
	raw := flate.NewReader(bytes.NewReader(data[2:]))
	want, wantErr = io.ReadAll(io.LimitReader(raw, limit+1))
	d := decoder{src: data[2:], limit: limit + 1}
	if err := d.blocks(); len(want) <= limit {
		require.Equal(t, wantErr == nil, err == nil, "%v, not %v", err, wantErr)
		require.True(t, wantErr != nil || bytes.Equal(want, d.out))
	}
}

func FuzzZlib(f *testing.F) {
	for _, stream := range streams(f) {
		f.Add(stream)
	}
	f.Fuzz(requireSame)
}

// TestZlibMatchesStandardLibrary compares results for intact, truncated and modified
// streams and for streams with trailing data.
func TestZlibMatchesStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, stream := range streams(t) {
		requireSame(t, stream)
		requireSame(t, append(bytes.Clone(stream), "trailing"...))
		for range 200 {
			requireSame(t, stream[:random.IntN(len(stream))])
			modified := bytes.Clone(stream)
			modified[random.IntN(min(len(modified), 200))] ^= 1 << random.IntN(8)
			requireSame(t, modified)
		}
	}
}

func TestZlibReportsDamage(t *testing.T) {
	intact := streams(t)[len(streams(t))-1]
	wrongSum := bytes.Clone(intact)
	wrongSum[len(wrongSum)-1] ^= 1
	for want, data := range map[Error][]byte{
		errNoData:    []byte("blob 7\x00content"),
		errDamaged:   {0x78, 0x01, 7}, // a block of the reserved type
		errTruncated: intact[:len(intact)-5],
		errChecksum:  wrongSum,
	} {
		_, _, err := Zlib(nil, data, 1<<20)
		assert.Equal(t, want, err)
	}
	_, _, err := Zlib(nil, intact[:1], 1<<20)
	assert.Equal(t, errTruncated, err)
}

func TestZlibStopsAtTheLimit(t *testing.T) {
	for i, stream := range streams(t) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			want, _, err := Zlib(nil, stream, 1<<20)
			require.NoError(t, err)
			for limit := range len(want) {
				out, _, err := Zlib(make([]byte, 0, 100), stream, limit)
				require.ErrorIs(t, err, ErrMore)
				require.True(t, bytes.Equal(want[:limit], out))
			}
			out, used, err := Zlib(make([]byte, 0, 100), stream, len(want))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, out))
			require.Equal(t, len(stream), used)
		})
	}
}
