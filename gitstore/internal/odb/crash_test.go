package odb

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// Concurrent writers of the same objects and a concurrent gc do not lose objects.
func TestConcurrentWritersAndGC(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	r := gittest.New(t)
	s := open(t, r)
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			own, err := Open(s.cfg)
			if !assertNoError(t, err) {
				return
			}
			defer own.Close()
			for i := range 15 {
				b := own.NewBatch()
				for j := range 10 {
					b.Add(plumbing.BlobObject, fmt.Appendf(nil, "shared %d %d", i, j))
				}
				mine := b.Add(plumbing.BlobObject, fmt.Appendf(nil, "mine %d %d", w, i))
				flush := b.flush
				if i%5 == w {
					flush = func() error { return b.FlushPack(context.Background()) }
				}
				if !assertNoError(t, flush()) || !own.Has(mine) {
					t.Errorf("object %s is not there", mine)
				}
			}
		})
	}
	group.Go(func() {
		for range 5 {
			r.Git("gc", "-q", "--prune=2.weeks.ago")
		}
	})
	group.Wait()
	r.Git("fsck", "--strict")
	require.Len(t, everything(t, r), 15*10+4*15+4*3)
	requireSame(t, s, r)
	require.Empty(t, litter(t, r))
}

func assertNoError(t *testing.T, err error) bool {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	return err == nil
}

// Concurrent reads of one database succeed while its packs change.
func TestConcurrentReadsDuringRepack(t *testing.T) {
	t.Parallel()
	r := fixture(t, 15)
	r.Git("repack", "-adfq")
	all := everything(t, r)
	s := open(t, r)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 6 {
				for _, o := range all {
					_, content, err := s.Read(o.hash)
					if !assertNoError(t, err) || string(content) != string(o.content) {
						t.Errorf("object %s is another one", o.hash)
					}
				}
			}
		})
	}
	for i := range 4 {
		r.Git("repack", "-adfq", fmt.Sprintf("--depth=%d", 1+i*5))
	}
	group.Wait()
}
