package index

import (
	"fmt"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// BenchmarkWriteTree opens an index, builds its tree and closes it, with ten changed leaf
// directories, like a save.
func BenchmarkWriteTree(b *testing.B) {
	for _, files := range []int{1_000, 10_000, 100_000} {
		r := gittest.New(b)
		r.Generate(files)
		r.Stage(files, 10, 1)
		for _, version := range []string{"2", "4"} {
			r.Git("update-index", "--index-version", version, "--force-write-index")
			b.Run(fmt.Sprintf("files=%d/v%s", files, version), func(b *testing.B) {
				benchmarkWriteTree(b, r.GitPath("index"))
			})
		}
	}
}

func benchmarkWriteTree(b *testing.B, path string) {
	b.ReportAllocs()
	for b.Loop() {
		x, err := Open(path)
		require.NoError(b, err)
		_, err = x.WriteTree(all{}, sink{})
		require.NoError(b, err)
		x.Close()
	}
}

func BenchmarkOpen(b *testing.B) {
	r := gittest.New(b)
	r.Generate(100_000)
	path := r.GitPath("index")
	b.ReportAllocs()
	for b.Loop() {
		x, err := Open(path)
		require.NoError(b, err)
		x.Close()
	}
}

// The number of allocations does not depend on the number of entries.
func TestAllocationsDoNotGrowWithEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	r := gittest.New(t)
	r.Generate(20_000)
	r.Stage(20_000, 10, 1)
	for version, most := range map[string]float64{"2": 350, "4": 800} {
		r.Git("update-index", "--index-version", version, "--force-write-index")
		path := r.GitPath("index")
		n := testing.AllocsPerRun(3, func() {
			x, err := Open(path)
			require.NoError(t, err)
			_, err = x.WriteTree(all{}, sink{})
			require.NoError(t, err)
			require.NoError(t, x.Close())
		})
		assert.Less(t, n, most, "version %s", version)
	}
}
