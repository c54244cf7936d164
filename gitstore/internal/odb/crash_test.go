package odb

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// TestWriterProcess is the subprocess that TestKilledWriterLosesNoFlushedObject kills.
// The process writes batches and prints the flushed hashes.
func TestWriterProcess(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("GIT_CHECKPOINT_TEST_WRITE_TO")
	if dir == "" {
		return // runs only in TestKilledWriterLosesNoFlushedObject
	}
	s, err := Open(Config{Dir: dir})
	require.NoError(t, err)
	for i := 0; ; i++ {
		b := s.NewBatch()
		for j := range 20 {
			b.Add(plumbing.BlobObject, fmt.Appendf(nil, "%d %d %d %s", os.Getpid(), i, j, strings.Repeat("x", rand.IntN(9000))))
		}
		require.NoError(t, b.flush())
		for _, o := range b.objects {
			fmt.Println("flushed", o.hash)
		}
	}
}

// A killed writer loses no flushed object and leaves no damaged object. Its temporary
// files are removed by gc.
func TestKilledWriterLosesNoFlushedObject(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	r := gittest.New(t)
	s := open(t, r)
	flushed := 0
	for i := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriterProcess$")
		cmd.Env = append(os.Environ(), "GIT_CHECKPOINT_TEST_WRITE_TO="+s.cfg.Dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		var hashes []plumbing.Hash
		for lines.Scan() {
			if h, ok := strings.CutPrefix(lines.Text(), "flushed "); ok && len(h) == 2*objectformat.Size {
				hashes = append(hashes, plumbing.NewHash(h))
			}
			if len(hashes) == 1+20*i { // the kill comes at a random time, but never before the first flush
				time.AfterFunc(rand.N(20*time.Millisecond), func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait()
		for _, h := range hashes {
			require.True(t, s.Has(h))
		}
		flushed += len(hashes)
	}
	require.NotZero(t, flushed)
	r.Git("fsck", "--strict")
	requireSame(t, s, r)
	for _, path := range litter(t, r) {
		require.Contains(t, path, "tmp_obj_")
		age(t, path)
	}
	r.Git("gc", "-q", "--prune=2.weeks.ago")
	require.Empty(t, litter(t, r))
}

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
					flush = func() error { return b.pack(context.Background()) }
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
	require.Len(t, everything(t, r), 15*10+4*15)
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
