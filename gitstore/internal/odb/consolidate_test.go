package odb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// written flushes n blobs as loose objects.
func written(t *testing.T, s *Database, from, n int) []plumbing.Hash {
	t.Helper()
	b := s.NewBatch()
	for i := range n {
		b.Add(plumbing.BlobObject, fmt.Appendf(nil, "%s%d\n", strings.Repeat("a line of a file\n", 50), from+i))
	}
	require.NoError(t, b.Flush())
	require.Len(t, b.Placed(), n)
	return b.Placed()
}

// packNotes collects the names of packs.
type packNotes []string

func (n *packNotes) add(pack string) error {
	*n = append(*n, pack)
	return nil
}

// options replaces the collected packs, and collects the name of the new pack.
func (n *packNotes) options() ConsolidateOptions {
	return ConsolidateOptions{Packs: *n, Note: n.add}
}

func looseCount(t *testing.T, r *gittest.Repo) (n int) {
	t.Helper()
	files, err := filepath.Glob(r.GitPath("objects/[0-9a-f][0-9a-f]/*"))
	require.NoError(t, err)
	return len(files)
}

func allReadable(t *testing.T, r *gittest.Repo, s *Database, hashes []plumbing.Hash) {
	t.Helper()
	for _, h := range hashes {
		kind, content, err := s.Read(h)
		require.NoError(t, err)
		require.Equal(t, h, Name(kind, content))
	}
	r.Git("fsck", "--strict", "--no-dangling")
	for _, h := range hashes {
		r.Git("cat-file", "-e", h.String())
	}
}

// TestConsolidateKeepsOtherObjects checks that Consolidate deletes only loose files that
// the caller names and that the new pack contains.
func TestConsolidateKeepsOtherObjects(t *testing.T) {
	t.Parallel()
	r := fixture(t, 5)
	s := open(t, r)
	before := looseCount(t, r)
	r.Write("foreign", "of another program")
	foreign := strings.TrimSpace(r.Git("hash-object", "-w", "foreign"))
	mine := written(t, s, 0, 20)
	damaged := mine[0]
	require.NoError(t, os.Chmod(s.loosePath(damaged), 0o644))
	require.NoError(t, os.WriteFile(s.loosePath(damaged), []byte("damaged"), 0o644))
	var notes packNotes
	done, err := s.Consolidate(t.Context(), append(mine, plumbing.NewHash(strings.Repeat("1", 40))), notes.options())
	require.NoError(t, err)
	assert.Equal(t, []plumbing.Hash{damaged}, done.Loose)
	assert.Equal(t, packNotes{done.Pack}, notes)
	assert.Equal(t, before+2, looseCount(t, r), "the foreign and the damaged object")
	assert.FileExists(t, s.loosePath(plumbing.NewHash(foreign)))
	require.NoError(t, os.Remove(s.loosePath(damaged)))
	allReadable(t, r, s, mine[1:])
}

// TestConsolidateKilledAtEachStep stops Consolidate after each step. All objects stay
// readable, and the next call removes the loose files. Before that, it syncs and notes the
// pack.
func TestConsolidateKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for stop := 1; ; stop++ {
		r := gittest.New(t)
		s := open(t, r)
		var notes packNotes
		first := written(t, s, 0, 4)
		_, err := s.Consolidate(t.Context(), first, notes.options())
		require.NoError(t, err)
		second := written(t, s, 100, 6)
		steps := 0
		s.trace = func(string, string) {
			if steps++; steps == stop {
				panic("killed")
			}
		}
		killed := func() (killed bool) {
			defer func() { killed = recover() != nil }()
			_, err := s.Consolidate(t.Context(), second, notes.options())
			require.NoError(t, err)
			return false
		}()
		all := append(first, second...)
		again := open(t, r)
		allReadable(t, r, again, all)
		resumed := tracedSteps(again)
		_, err = again.Consolidate(t.Context(), second, notes.options())
		require.NoError(t, err)
		allReadable(t, r, again, all)
		assert.Zero(t, looseCount(t, r))
		packs, err := filepath.Glob(r.GitPath("objects/pack/*.pack"))
		require.NoError(t, err)
		for _, path := range packs {
			assert.Contains(t, notes, strings.TrimSuffix(filepath.Base(path), ".pack"))
		}
		if at := slices.IndexFunc(*resumed, func(step string) bool { return strings.HasPrefix(step, "remove ") }); at >= 0 {
			newest := filepath.Join(s.packDir(), notes[len(notes)-1])
			assert.Subset(t, (*resumed)[:at], []string{"sync " + newest + ".pack", "sync " + newest + ".idx", "sync " + s.packDir()})
		}
		if !killed {
			assert.Greater(t, stop, 10, "steps")
			return
		}
	}
}

// tracedSteps collects the steps of a database.
func tracedSteps(s *Database) *[]string {
	var mu sync.Mutex
	steps := new([]string)
	s.trace = func(step, path string) {
		mu.Lock()
		defer mu.Unlock()
		*steps = append(*steps, step+" "+path)
	}
	return steps
}

// TestConsolidateKeepsLargeObjectsLoose checks that the size of an object counts, and not
// that of its compressed file. Git limits the memory for the others.
func TestConsolidateKeepsLargeObjectsLoose(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	var args []string
	s := open(t, r, func(c *Config) {
		c.Git = func(ctx context.Context, stdin []byte, a ...string) ([]byte, error) {
			args = a
			return r.RunContext(ctx, stdin, a...)
		}
	})
	b := s.NewBatch()
	large := b.Add(plumbing.BlobObject, make([]byte, largestPacked+1))
	b.Add(plumbing.BlobObject, make([]byte, largestPacked))
	require.NoError(t, b.Flush())
	var notes packNotes
	done, err := s.Consolidate(t.Context(), b.Placed(), notes.options())
	require.NoError(t, err)
	assert.Equal(t, []plumbing.Hash{large}, done.Loose)
	assert.FileExists(t, s.loosePath(large))
	assert.Equal(t, 1, looseCount(t, r))
	assert.Contains(t, args, windowMemory)
	allReadable(t, r, s, b.Placed())
}

// TestConsolidateFails checks that a failure deletes no file.
func TestConsolidateFails(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	fail := errors.New("no space")
	git := r.RunContext
	s := open(t, r, func(c *Config) {
		c.Git = func(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
			return git(ctx, stdin, args...)
		}
	})
	mine := written(t, s, 0, 5)
	_, err := s.Consolidate(t.Context(), mine, ConsolidateOptions{Note: func(string) error { return fail }})
	require.ErrorIs(t, err, fail)
	assert.Equal(t, 5, looseCount(t, r))
	git = func(context.Context, []byte, ...string) ([]byte, error) { return nil, fail }
	other := written(t, s, 10, 5)
	_, err = s.Consolidate(t.Context(), other, new(packNotes).options())
	require.EqualError(t, err, "pack 5 objects: no space")
	assert.Equal(t, 10, looseCount(t, r))
	allReadable(t, r, s, append(mine, other...))
}

// TestConsolidateChecksThePack checks that a pack with a damaged object replaces no file.
func TestConsolidateChecksThePack(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	s := open(t, r, func(c *Config) {
		c.Git = func(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
			said, err := r.RunContext(ctx, stdin, args...)
			if err != nil {
				return nil, err
			}
			path := r.GitPath("objects/pack/pack-" + strings.TrimSpace(string(said)) + ".pack")
			data, err := os.ReadFile(path)
			if err == nil {
				data[20] ^= 1 // in the content of the first object
				err = errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, data, 0o644))
			}
			return said, err
		}
	})
	mine := written(t, s, 0, 5)
	_, err := s.Consolidate(t.Context(), mine, new(packNotes).options())
	require.ErrorContains(t, err, "check object ")
	assert.Equal(t, 5, looseCount(t, r))
	for _, h := range mine {
		assert.NoError(t, sameLoose(s.loosePath(h), nil))
	}
}

// TestConsolidateDeletesOnlyLooseFiles checks that objects of a replaced pack cost no
// deletion, because a repository has many of them.
func TestConsolidateDeletesOnlyLooseFiles(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	s := open(t, r)
	var notes packNotes
	_, err := s.Consolidate(t.Context(), written(t, s, 0, 40), notes.options())
	require.NoError(t, err)
	mine := written(t, s, 100, 6)
	deleted := 0
	s.trace = func(step, _ string) {
		if step == "remove" {
			deleted++
		}
	}
	done, err := s.Consolidate(t.Context(), mine, notes.options())
	require.NoError(t, err)
	assert.Equal(t, []string(notes[:1]), done.Removed)
	assert.Equal(t, len(mine), deleted)
	assert.Zero(t, looseCount(t, r))
}

// TestConsolidateWritesOnePackWithAnySettings sets the settings that change the files of
// git pack-objects. With a size limit git would write several packs.
func TestConsolidateWritesOnePackWithAnySettings(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	for _, setting := range []string{"packSizeLimit=1m", "indexVersion=1", "writeReverseIndex=true", "compression=0", "depth=1"} {
		key, value, _ := strings.Cut(setting, "=")
		r.Git("config", "pack."+key, value)
	}
	s := open(t, r)
	var notes packNotes
	var all []plumbing.Hash
	for round := range 2 {
		b := s.NewBatch()
		for n := range 3 {
			b.Add(plumbing.BlobObject, bytes.Repeat(fmt.Appendf(nil, "%d %d\n", round, n), 150_000))
		}
		require.NoError(t, b.Flush())
		all = append(all, b.Placed()...)
		done, err := s.Consolidate(t.Context(), b.Placed(), notes.options())
		require.NoError(t, err)
		assert.Len(t, done.Removed, round)
	}
	for _, ext := range []string{"pack", "idx"} {
		files, err := filepath.Glob(r.GitPath("objects/pack/*." + ext))
		require.NoError(t, err)
		assert.Len(t, files, 1)
	}
	allReadable(t, r, s, all)
}
