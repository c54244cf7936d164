package treediff

import (
	"os"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTotalsOfManyPairs checks the counts of a batch: equal sides, a rename, a binary file,
// odd names, and the empty tree; and that Files counts no binary file.
func TestTotalsOfManyPairs(t *testing.T) {
	t.Parallel()
	r, at, staged := newPlace(t)
	require.NoError(t, os.Rename(r.Path("run.sh"), r.Path("ran.sh")))
	r.Write("a.txt", "changed\nagain\n")
	r.Write("binary", "\x00\x01")
	r.Write(staged.String()+" "+staged.String()+"\nx", "one\n")
	r.Git("add", "-A")
	later := plumbing.NewHash(r.Git("write-tree"))
	r.Git("rm", "-q", "--cached", "a.txt")
	gone := plumbing.NewHash(r.Git("write-tree"))
	got, err := TotalsOf(t.Context(), at, []Pair{
		{staged, staged}, {staged, later}, {later, gone}, {plumbing.ZeroHash, staged},
	})
	require.NoError(t, err)
	assert.Equal(t, []Totals{{}, {Files: 4, Added: 2}, {Files: 1, Deleted: 2}, {Files: 4, Added: 4}}, got)
	b, err := New(at, Side{Tree: staged}, Side{Tree: later})
	require.NoError(t, err)
	files, err := b.Files(t.Context())
	require.NoError(t, err)
	counted := map[string]string{}
	for _, f := range files {
		if f.Counted {
			counted[f.Path] = f.Status
		}
	}
	assert.Equal(t, map[string]string{"a.txt": "modified", "ran.sh": "renamed", staged.String() + " " + staged.String() + "\nx": "added"}, counted)
	none, err := TotalsOf(t.Context(), at, nil)
	require.NoError(t, err)
	assert.Empty(t, none)
}

// TestInvalidTotalsAreErrors checks that output without the expected form is an error.
func TestInvalidTotalsAreErrors(t *testing.T) {
	t.Parallel()
	heads := []string{"a b\n", "b c\n"}
	for _, out := range []string{"", " 1 file changed\n", "a b\n 1 file changed", "a b\n 1 file changed\n", "a b\n 1 file\nb c\n"} {
		assert.ErrorContains(t, parseTotals(out, heads, []*Totals{{}, {}}), "count lines", "%q", out)
	}
}
