package freshness

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDiffLines(t *testing.T) {
	for _, c := range []struct {
		name, before, now string
		want              []string
	}{
		{"one line", "a", "b", []string{"-a", "+b"}},
		{"in the middle", "a\nb\nc\nd", "a\nB\nc\nd", []string{" a", "-b", "+B", " c"}},
		{"at the end", "a", "a\nb", []string{" a", "+b"}},
		{"at the start", "b", "a\nb", []string{"+a", " b"}},
		{"two places", "a\nb\nc\nd\ne", "A\nb\nc\nd\nE", []string{"-a", "+A", " b", " c", " d", "-e", "+E"}},
		{"all gone", "a\nb", "", []string{"-a", "-b", "+"}},
		{"a line moved", "a\nb\nc", "b\nc\na", []string{"-a", " b", " c", "+a"}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, diffLines(c.before, c.now)) })
	}
}

// TestEditsAreBothTexts takes each side out of an edit again.
func TestEditsAreBothTexts(t *testing.T) {
	for seed := range int64(500) {
		r := rand.New(rand.NewSource(seed))
		text := func() []string {
			lines := make([]string, r.Intn(12))
			for k := range lines {
				lines[k] = string(rune('a' + r.Intn(4)))
			}
			return lines
		}
		a, b := text(), text()
		var before, after []string
		for _, line := range edits(a, b) {
			if line[0] != '+' {
				before = append(before, line[1:])
			}
			if line[0] != '-' {
				after = append(after, line[1:])
			}
		}
		require.Equal(t, strings.Join(a, ","), strings.Join(before, ","), "seed %d", seed)
		require.Equal(t, strings.Join(b, ","), strings.Join(after, ","), "seed %d", seed)
	}
	long := strings.Split(strings.Repeat("x\n", maxDiff+1), "\n")
	assert.Len(t, edits(long, []string{"y"}), len(long)+1, "too long to compare line by line")
}
