package odb

import (
	"bytes"
	"context"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// contents returns contents of every size class: empty, near the size of a disk block, and larger
// than a block of deflate.
func contents() [][]byte {
	var all [][]byte
	for _, n := range []int{0, 1, 700, 4077, 4096, 65535, 65536, 70000, 3 << 20} {
		noise := make([]byte, n)
		_, _ = rand.Read(noise)
		all = append(all, noise, bytes.Repeat([]byte("text "), n/5+1))
	}
	return all
}

func TestFlushIsReadByGit(t *testing.T) {
	t.Parallel()
	for name, flush := range map[string]func(*Batch) error{
		"loose": (*Batch).flush,
		"pack":  func(b *Batch) error { return b.Install(context.Background(), 0) },
		"again": func(b *Batch) error { return b.FlushPack(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			s := open(t, r)
			b := s.NewBatch()
			for _, c := range contents() {
				h := b.Add(plumbing.BlobObject, c)
				require.Equal(t, plumbing.ComputeHash(plumbing.BlobObject, c), h)
				require.Equal(t, h, b.Add(plumbing.BlobObject, c), "added twice")
			}
			require.Len(t, b.Missing(), len(b.objects))
			require.NoError(t, flush(b))
			require.Empty(t, b.Missing())
			r.Git("fsck", "--strict")
			all := everything(t, r)
			salt := map[bool]int{true: 1}[name == "again"]
			require.Len(t, all, len(b.objects)+salt)
			requireSame(t, s, r)
			require.Empty(t, litter(t, r))
			require.NoError(t, flush(b), "a second time")
		})
	}
}

// litter returns temporary files below the objects directory.
func litter(t testing.TB, r *gittest.Repo) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(r.GitPath("objects"), func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(d.Name(), "tmp_") {
			found = append(found, path)
		}
		return err
	}))
	return found
}

func TestAddCopiesContent(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	s := open(t, r)
	b := s.NewBatch()
	content := []byte("before")
	h := b.Add(plumbing.BlobObject, content)
	copy(content, "after ")
	require.NoError(t, b.flush())
	require.Equal(t, "before", r.Git("cat-file", "blob", h.String()))
}

// A gc deletes an unreachable object of age one month, unless a flush has freshened it.
func TestFreshenedObjectSurvivesGC(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	const text = "needed again"
	for name, arrange := range map[string]func(r *gittest.Repo, h string){
		"loose": func(r *gittest.Repo, h string) { age(t, r.GitPath("objects/"+h[:2]+"/"+h[2:])) },
		"pack": func(r *gittest.Repo, h string) {
			packOne(r, h)
			age(t, onlyPack(t, r))
		},
		"cruft pack": func(r *gittest.Repo, h string) {
			r.Commit("something to pack")
			age(t, r.GitPath("objects/"+h[:2]+"/"+h[2:]))
			r.Git("repack", "--cruft", "-dq")
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, again := range []bool{true, false} {
				r := gittest.New(t)
				h := r.Hash(text)
				arrange(r, h)
				s := open(t, r)
				b := s.NewBatch()
				b.Add(plumbing.BlobObject, []byte(text))
				if again {
					require.NoError(t, b.flush())
				}
				r.Git("-c", "gc.cruftPacks=true", "gc", "-q", "--prune=2.weeks.ago")
				assert.Equal(t, again, len(b.Missing()) == 0)
				_, err := r.Run(nil, "cat-file", "-e", h)
				assert.Equal(t, again, err == nil, "freshened: %v", again)
			}
		})
	}
}

func age(t testing.TB, path string) {
	t.Helper()
	require.NoError(t, os.Chtimes(path, days(30), days(30)))
}

// packOne moves a loose object into a separate pack.
func packOne(r *gittest.Repo, h string) {
	r.Pipe([]byte(h+"\n"), "pack-objects", "-q", r.GitPath("objects/pack/pack"))
	os.Remove(r.GitPath("objects/" + h[:2] + "/" + h[2:]))
}

func TestFlushReplacesDamagedLooseObject(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	good := deflate([]byte("blob 4\x00text"))
	for name, damage := range map[string][]byte{
		"empty":      {},
		"truncated":  good[:len(good)-3],
		"zeros":      make([]byte, len(good)),
		"other":      deflate([]byte("blob 4\x00tent")),
		"other type": deflate([]byte("tree 4\x00text")),
		"trailing":   append(bytes.Clone(good), "more"...),
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			s := open(t, r)
			b := s.NewBatch()
			h := b.Add(plumbing.BlobObject, []byte("text"))
			loosen(t, s, h, damage)
			require.NoError(t, b.flush())
			require.Equal(t, "text", r.Git("cat-file", "blob", h.String()))
		})
	}
}

func TestEmptyLooseObjectIsMissing(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	s := open(t, r)
	b := s.NewBatch()
	h := b.Add(plumbing.BlobObject, []byte("text"))
	require.NoError(t, b.flush())
	require.True(t, s.Has(h))
	require.NoError(t, os.Chmod(s.loosePath(h), 0o644))
	require.NoError(t, os.Truncate(s.loosePath(h), 0))
	require.False(t, s.Has(h))
	require.Equal(t, []plumbing.Hash{h}, b.Missing())
}

func TestMissingDetectsDeletedPack(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	s := open(t, r)
	b := s.NewBatch()
	packed, loose := b.Add(plumbing.BlobObject, []byte("packed")), b.Add(plumbing.BlobObject, []byte("loose"))
	require.NoError(t, b.FlushPack(context.Background()))
	require.Empty(t, b.Missing())
	require.NoError(t, os.Remove(onlyPack(t, r)))
	require.Equal(t, []plumbing.Hash{packed, loose}, b.Missing())
}

func TestFlushFreshensKeptObject(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	h := plumbing.NewHash(r.Hash("staged"))
	s := open(t, r)
	age(t, s.loosePath(h))
	b := s.NewBatch()
	b.Keep(h)
	require.NoError(t, b.flush())
	info, err := os.Stat(s.loosePath(h))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), info.ModTime(), time.Minute)
	require.Empty(t, b.objects)
	require.Empty(t, b.Missing())

	require.NoError(t, os.Remove(s.loosePath(h)))
	require.Equal(t, []plumbing.Hash{h}, b.Missing())
	require.ErrorIs(t, b.flush(), plumbing.ErrObjectNotFound)
	require.ErrorIs(t, b.FlushPack(context.Background()), plumbing.ErrObjectNotFound)
}

// The order of steps determines the state after a power failure: names must not be
// durable before contents, and Flush must not return before names are durable.
func TestFlushSyncsInOrder(t *testing.T) {
	t.Parallel()
	s, steps := traced(t)
	b := s.NewBatch()
	old, added := addThree(t, s, b)
	require.NoError(t, b.flush())

	dirs := []string{"sync .", "sync " + old[:2]}
	for _, name := range added {
		require.Less(t, slices.Index(*steps, "sync "+name), slices.Index(*steps, "name "+name))
		dirs = append(dirs, "sync "+name[:2])
	}
	require.Len(t, *steps, 3+2+4)
	require.Contains(t, (*steps)[:5], "sync "+old)
	require.ElementsMatch(t, dirs, (*steps)[5:])
}

// traced opens a database that records the steps of a flush.
func traced(t *testing.T) (*Database, *[]string) {
	s := open(t, gittest.New(t))
	var mu sync.Mutex
	var steps []string
	s.trace = func(step, path string) {
		mu.Lock()
		defer mu.Unlock()
		rel, err := filepath.Rel(s.cfg.Dir, path)
		assert.NoError(t, err)
		steps = append(steps, step+" "+filepath.ToSlash(rel))
	}
	return s, &steps
}

// addThree adds one existing and two new objects and returns their names.
func addThree(t *testing.T, s *Database, b *Batch) (old string, added []string) {
	require.NoError(t, os.MkdirAll(s.cfg.Dir, 0o777))
	first := s.NewBatch()
	hash := first.Add(plumbing.BlobObject, []byte("old"))
	trace := s.trace
	s.trace = nil
	require.NoError(t, first.flush())
	s.trace = trace
	b.Add(plumbing.BlobObject, []byte("old"))
	for _, text := range []string{"one", "two"} {
		h := b.Add(plumbing.BlobObject, []byte(text))
		added = append(added, filepath.ToSlash(loosePath("", h)))
	}
	return filepath.ToSlash(loosePath("", hash)), added
}

func TestFlushPackReportsGitError(t *testing.T) {
	t.Parallel()
	s := open(t, gittest.New(t))
	b := s.NewBatch()
	require.NoError(t, b.FlushPack(t.Context()), "nothing to write")
	b.Add(plumbing.BlobObject, []byte("text"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := b.FlushPack(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "write pack of 2 objects: ")
}

// A pack that is written again has another name: a gc may have listed the first one, and deletes it.
func TestFlushPackMakesNewPacks(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	b := open(t, r).NewBatch()
	b.Add(plumbing.BlobObject, []byte("text"))
	for want := range 3 {
		packs, err := filepath.Glob(r.GitPath("objects/pack/*.pack"))
		require.NoError(t, err)
		require.Len(t, packs, want)
		require.NoError(t, b.FlushPack(t.Context()))
	}
}

func TestKeptObjectMayBeAddedToo(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	s := open(t, r)
	for _, flush := range []func(*Batch) error{(*Batch).flush, func(b *Batch) error { return b.FlushPack(t.Context()) }} {
		b := s.NewBatch()
		text := rand.Text()
		b.Keep(b.Add(plumbing.BlobObject, []byte(text)))
		require.NoError(t, flush(b))
		require.Equal(t, text, r.Git("cat-file", "blob", r.Hash(text)))
	}
}
