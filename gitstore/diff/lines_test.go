package diff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shown formats hunks as a unified diff.
func shown(hunks []Hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		fmt.Fprintf(&b, "@@ %d %d\n", h.Old, h.New)
		for _, l := range h.Lines {
			fmt.Fprintf(&b, "%c%s\n", l.Op, l.Text)
		}
	}
	return b.String()
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"equal", "a\nb", "a\nb", ""},
		{"from nothing", "", "a\nb", "@@ 1 1\n+a\n+b\n"},
		{"to nothing", "a", "", "@@ 1 1\n-a\n"},
		{"a line", "a\nb\nc", "a\nB\nc", "@@ 1 1\n a\n-b\n+B\n c\n"},
		{"an end", "a", "a\n", "@@ 1 1\n a\n+\n"},
		{"an end on both sides", "a\n", "b\n", "@@ 1 1\n-a\n+b\n"},
		{"an empty line", "\n", "\n\n", "@@ 1 1\n \n+\n"},
		{"added", "a\nb\nc\nd", "a\nb\nx\nc\nd", "@@ 2 2\n b\n+x\n c\n"},
		{"two hunks", "1\n2\n3\n4\n5\n6\n7", "x\n2\n3\n4\n5\n6\ny", "@@ 1 1\n-1\n+x\n 2\n@@ 6 6\n 6\n-7\n+y\n"},
		{"one hunk", "1\n2\n3\n4", "x\n2\n3\ny", "@@ 1 1\n-1\n+x\n 2\n 3\n-4\n+y\n"},
		{"apart", "a\nk\nb\nk\nc", "k\nb\nk", "@@ 1 1\n-a\n k\n@@ 4 3\n k\n-c\n"},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, shown(Lines(c.from, c.to, 1))) })
	}
}

// apply applies hunks to a text.
func apply(t *testing.T, from string, hunks []Hunk) string {
	t.Helper()
	a := split(from)
	var out []string
	at := 0
	for _, h := range hunks {
		require.GreaterOrEqual(t, h.Old-1, at)
		out = append(out, a[at:h.Old-1]...)
		require.Equal(t, h.New-1, len(out))
		at = h.Old - 1
		for _, l := range h.Lines {
			if l.Op != '+' {
				require.Equal(t, a[at], l.Text)
				at++
			}
			if l.Op != '-' {
				out = append(out, l.Text)
			}
		}
	}
	return strings.Join(append(out, a[at:]...), "\n")
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd\n", 3)
	f.Add("", "\n", 0)
	f.Add("x\nx\ny\nx", "y\nx\nx", 1)
	f.Fuzz(func(t *testing.T, a, b string, context int) {
		hunks := Lines(a, b, min(max(context, 0), 10))
		require.Equal(t, b, apply(t, a, hunks))
		require.Equal(t, a == b, len(hunks) == 0)
	})
}

// A diff of random edits has no more changed lines than the edits, and a diff of a large
// text finishes in bounded time.
func TestLinesOfRandomTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a := make([]string, r.IntN(40))
		for i := range a {
			a[i] = string(rune('a' + r.IntN(6)))
		}
		b := append([]string(nil), a...)
		edits := 0
		for i := range b {
			if r.IntN(5) == 0 {
				b[i], edits = "new", edits+1
			}
		}
		hunks := Lines(strings.Join(a, "\n"), strings.Join(b, "\n"), 2)
		require.Equal(t, strings.Join(b, "\n"), apply(t, strings.Join(a, "\n"), hunks))
		changed := 0
		for _, h := range hunks {
			for _, l := range h.Lines {
				if l.Op != ' ' {
					changed++
				}
			}
		}
		require.LessOrEqual(t, changed, 2*edits)
	}
	long := strings.Repeat("a\nb\n", 20_000)
	hunks := Lines(long, strings.ReplaceAll(long, "a", "c"), 3)
	require.Equal(t, strings.ReplaceAll(long, "a", "c"), apply(t, long, hunks))
}
