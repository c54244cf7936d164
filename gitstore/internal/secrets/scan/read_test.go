package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var key = "ghp_" + mixed[:36]

// inUTF16 returns a text in UTF-16, as Windows writes it.
func inUTF16(order binary.AppendByteOrder, mark bool, text string) []byte {
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xfeff)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

// inUTF32 returns a text in UTF-32.
func inUTF32(order binary.AppendByteOrder, mark bool, text string) []byte {
	var out []byte
	if mark {
		out = order.AppendUint32(out, 0xfeff)
	}
	for _, c := range text {
		out = order.AppendUint32(out, uint32(c))
	}
	return out
}

func TestReadForms(t *testing.T) {
	text := "first \U0001f600\n" + key + "\n"
	long := strings.Repeat("word\n", 1<<18)
	for name, c := range map[string]struct {
		data []byte
		line int // 0 means no finding
	}{
		"plain":                   {[]byte(text), 2},
		"escaped line end":        {[]byte(`{"out":"a\n` + key + `\n"}`), 1},
		"escaped in a URL":        {[]byte("q=x%3D" + key), 1},
		"terminal colour":         {[]byte("\x1b[1;31m" + key + "\x1b[0m"), 1},
		"no final newline":        {[]byte("a\n\n" + key), 3},
		"with a mark":             {[]byte("\xef\xbb\xbf" + text), 2},
		"utf-16 little":           {inUTF16(binary.LittleEndian, true, text), 2},
		"utf-16 big":              {inUTF16(binary.BigEndian, true, text), 2},
		"utf-16 little, no mark":  {inUTF16(binary.LittleEndian, false, "first\n"+key+"\n"), 2},
		"utf-16 big, no mark":     {inUTF16(binary.BigEndian, false, "first\n"+key+"\n"), 2},
		"utf-16, cut":             {append(inUTF16(binary.LittleEndian, true, text), 'x'), 2},
		"utf-16, large":           {inUTF16(binary.LittleEndian, true, long+key), 1<<18 + 1},
		"utf-32 little":           {inUTF32(binary.LittleEndian, true, text), 2},
		"utf-32 big":              {inUTF32(binary.BigEndian, true, text), 2},
		"utf-32 little, no mark":  {inUTF32(binary.LittleEndian, false, text), 2},
		"utf-32 big, no mark":     {inUTF32(binary.BigEndian, false, text), 2},
		"utf-32, cut":             {append(inUTF32(binary.LittleEndian, true, text), 'x', 0), 2},
		"utf-32, not valid":       {append(inUTF32(binary.BigEndian, true, "\n"), append([]byte("\xff\xff\xff\xff"), inUTF32(binary.BigEndian, false, key)...)...), 2},
		"utf-32, large":           {inUTF32(binary.BigEndian, true, long+key), 1<<18 + 1},
		"utf-16 in other letters": {inUTF16(binary.LittleEndian, false, strings.Repeat("# \u4f60\u597d\u4e16\u754c\n", 30)+key+"\n"), 31},
		"padded with NULs":        {[]byte("user" + strings.Repeat("\x00", 60) + key + strings.Repeat("\x00", 60) + "next" + strings.Repeat("\x00", 60)), 1},
		"a name before NULs":      {[]byte(strings.Repeat("\x00", 4000) + " password = " + mixed[:30] + "\n"), 0},
		"other bytes":             {[]byte("\x00\x01\x02" + key + "\x00"), 1},
		"a name in other bytes":   {[]byte("\x00\x01\x02 password = " + mixed[:30] + " \x00"), 0},
		"large":                   {[]byte(long + key), 1<<18 + 1},
		"larger than all limits":  {[]byte(strings.Repeat(long, 6) + key), 6<<18 + 1},
		"one line":                {[]byte(strings.Repeat("w ", piece) + key + strings.Repeat(" w", piece)), 1},
		"across two pieces":       {[]byte("\n" + strings.Repeat("w ", piece/2-10) + key + strings.Repeat(" w", piece)), 2},
		"nothing":                 {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{bytes.NewReader(c.data), iotest.HalfReader(bytes.NewReader(c.data))} {
				got, err := Read(r)
				require.NoError(t, err)
				assert.Empty(t, got.Skipped)
				if c.line == 0 {
					assert.Empty(t, got.Findings)
				} else {
					assert.Equal(t, []Finding{{"github-token", c.line}}, got.Findings)
				}
			}
		})
	}
}

func TestReadReportsSkippedFiles(t *testing.T) {
	for _, head := range []string{"\x1f\x8b\x08", "PK\x03\x04", "\x28\xb5\x2f\xfd"} {
		got, err := Read(strings.NewReader(head + key))
		require.NoError(t, err)
		assert.Equal(t, Result{Skipped: "compressed"}, got)
	}
}

func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 20_000, 2 * piece} {
		_, err := Read(io.MultiReader(strings.NewReader(strings.Repeat("a\n", n)), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken)
	}
}

// TestReadIsBounded checks that memory use is independent of file size.
func TestReadIsBounded(t *testing.T) {
	const size = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Read(io.MultiReader(io.LimitReader(prose{}, size), strings.NewReader("\n"+key)))
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.Len(t, got.Findings, 1)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
}

// prose is an endless text.
type prose struct{}

func (prose) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "plain words of no interest at all\n"[i%34]
	}
	return len(p), nil
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("\xff\xfeg\x00h\x00p\x00"))
	f.Add([]byte("\xd8\x00\xdc"))
	f.Add([]byte("\xff\xfe\x00\x00g\x00\x00\x00\xff\xff\xff"))
	f.Add([]byte("password = " + mixed[:30]))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range got.Findings {
			if found.Line < 1 || found.Line > len(data)+1 {
				t.Fatalf("%v in %d bytes", found, len(data))
			}
		}
	})
}
