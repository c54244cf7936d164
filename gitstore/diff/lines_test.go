package diff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sides returns the texts that an edit leads from and to, and its number of changed lines.
func sides(lines []Line) (from, to []string, changed int) {
	for _, l := range lines {
		if l.Op != '+' {
			from = append(from, l.Text)
		}
		if l.Op != '-' {
			to = append(to, l.Text)
		}
		if l.Op != ' ' {
			changed++
		}
	}
	return from, to, changed
}

func FuzzEdit(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd\n")
	f.Add("", "\n")
	f.Add("x\nx\ny\nx", "y\nx\nx")
	f.Fuzz(func(t *testing.T, a, b string) {
		from, to, changed := sides(Edit(strings.Split(a, "\n"), strings.Split(b, "\n")))
		require.Equal(t, strings.Split(a, "\n"), from)
		require.Equal(t, strings.Split(b, "\n"), to)
		require.Equal(t, a == b, changed == 0)
	})
}

// A diff of random edits has no more changed lines than the edits, and a diff of a large
// text finishes in bounded time.
func TestEditOfRandomTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a := make([]string, r.IntN(40))
		for i := range a {
			a[i] = string(rune('a' + r.IntN(6)))
		}
		b := slices.Clone(a)
		edits := 0
		for i := range b {
			if r.IntN(5) == 0 {
				b[i], edits = "new", edits+1
			}
		}
		from, to, changed := sides(Edit(a, b))
		require.True(t, slices.Equal(a, from) && slices.Equal(b, to))
		require.LessOrEqual(t, changed, 2*edits)
	}
	long := strings.Repeat("a\nb\n", 20_000)
	_, to, _ := sides(Edit(strings.Split(long, "\n"), strings.Split(strings.ReplaceAll(long, "a", "c"), "\n")))
	assert.Equal(t, strings.ReplaceAll(long, "a", "c"), strings.Join(to, "\n"))
}
