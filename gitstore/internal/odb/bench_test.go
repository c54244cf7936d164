package odb

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// BenchmarkFlush flushes the objects of a save: a record and small objects.
func BenchmarkFlush(b *testing.B) {
	r := gittest.New(b)
	s := open(b, r)
	for i := 0; b.Loop(); i++ {
		batch := s.NewBatch()
		batch.Add(plumbing.BlobObject, fmt.Appendf(nil, "%d %s", i, strings.Repeat("key: value\n", 400)))
		for j := range 19 {
			batch.Add(plumbing.BlobObject, fmt.Appendf(nil, "%d %d %s", i, j, strings.Repeat("x", 700)))
		}
		require.NoError(b, batch.Flush())
	}
}

// BenchmarkFlushExisting flushes existing objects.
func BenchmarkFlushExisting(b *testing.B) {
	r := gittest.New(b)
	s := open(b, r)
	batch := s.NewBatch()
	for j := range 20 {
		batch.Add(plumbing.BlobObject, fmt.Appendf(nil, "%d %s", j, strings.Repeat("x", 700)))
	}
	require.NoError(b, batch.Flush())
	for b.Loop() {
		require.NoError(b, batch.Flush())
	}
}

func BenchmarkFlushPack1000(b *testing.B) {
	r := gittest.New(b)
	s := open(b, r)
	for i := 0; b.Loop(); i++ {
		batch := s.NewBatch()
		for j := range 1000 {
			batch.Add(plumbing.BlobObject, fmt.Appendf(nil, "%d %d %s", i, j, strings.Repeat("x", 300)))
		}
		require.NoError(b, batch.FlushPack(b.Context()))
	}
}

// BenchmarkFirstRead opens a database with 100,000 objects and reads one object.
func BenchmarkFirstRead(b *testing.B) {
	r := gittest.New(b)
	head := r.Generate(100_000)
	r.Git("gc", "-q")
	h := plumbing.NewHash(head)
	dir := r.GitPath("objects")
	b.ResetTimer()
	for b.Loop() {
		s, err := Open(Config{Dir: dir})
		require.NoError(b, err)
		_, _, err = s.Read(h)
		require.NoError(b, err)
		require.NoError(b, s.Close())
	}
}

// BenchmarkWalk reads 1,000 commits from newest to oldest.
func BenchmarkWalk(b *testing.B) {
	for _, how := range []string{"loose", "packed"} {
		b.Run(how, func(b *testing.B) {
			r := fixture(b, 1000)
			if how == "packed" {
				r.Git("repack", "-adfq")
			}
			head := plumbing.NewHash(r.Git("rev-parse", "HEAD"))
			dir := r.GitPath("objects")
			b.ResetTimer()
			for b.Loop() {
				s, err := Open(Config{Dir: dir})
				require.NoError(b, err)
				for h, ok := head, true; ok; {
					_, content, err := s.Read(h)
					require.NoError(b, err)
					_, rest, found := strings.Cut(string(content), "\nparent ")
					if ok = found; ok {
						h = plumbing.NewHash(rest[:2*objectformat.Size])
					}
				}
				require.NoError(b, s.Close())
			}
		})
	}
}
