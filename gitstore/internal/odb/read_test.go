package odb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

func TestReadMatchesGit(t *testing.T) {
	for name, arrange := range map[string]func(r *gittest.Repo){
		"loose":     func(*gittest.Repo) {},
		"gc":        func(r *gittest.Repo) { r.Git("gc", "-q") },
		"deep":      func(r *gittest.Repo) { r.Git("repack", "-adfq", "--depth=200", "--window=50") },
		"ref delta": func(r *gittest.Repo) { r.Git("-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq") },
		"index v1":  func(r *gittest.Repo) { r.Git("-c", "pack.indexVersion=1", "repack", "-adfq") },
		"stored":    func(r *gittest.Repo) { r.Git("-c", "core.compression=0", "repack", "-adFq") },
		"half":      func(r *gittest.Repo) { r.Git("repack", "-dq"); r.Hash("a new one"); r.Hash("") },
		"many packs": func(r *gittest.Repo) {
			for i := range 5 {
				r.Write("more.txt", strings.Repeat("x", i*1000))
				r.Git("add", "-A")
				r.Commit("more")
				r.Git("repack", "-dq")
			}
			r.Git("multi-pack-index", "write")
		},
		"other names":    otherNames,
		"64-bit offsets": farOffsets,
		"loose level 9": func(r *gittest.Repo) {
			r.Pipe([]byte(strings.Repeat("text ", 50000)), "-c", "core.looseCompression=9", "hash-object", "-w", "--stdin")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := fixture(t, 30)
			arrange(r)
			s := open(t, r)
			requireSame(t, s, r)
			requireAbsent(t, s, absent)
		})
	}
}

// farOffsets makes git write offsets above 2000 into the 64-bit table.
func farOffsets(r *gittest.Repo) {
	r.Git("repack", "-adfq")
	packs, err := filepath.Glob(r.GitPath("objects/pack/*.pack"))
	if err != nil || len(packs) != 1 {
		panic("want one pack")
	}
	idx := strings.TrimSuffix(packs[0], ".pack") + ".idx"
	os.Remove(idx)
	r.Git("index-pack", "--index-version=2,0x7d0", "-o", idx, packs[0])
}

// otherNames creates packs with names other than pack-*, as git maintenance does.
func otherNames(r *gittest.Repo) {
	for i, name := range []string{"loose-1", "x", "", ".tmp-7-pack-8"} {
		r.Write("more.txt", strings.Repeat("y", i*1000))
		r.Git("add", "-A")
		r.Commit("more")
		r.Git("repack", "-dq")
		packs, err := filepath.Glob(r.GitPath("objects/pack/pack-*.pack"))
		if err != nil || len(packs) != 1 {
			panic("want one new pack")
		}
		for _, ext := range []string{".pack", ".idx"} {
			from := strings.TrimSuffix(packs[0], ".pack") + ext
			if err := os.Rename(from, r.GitPath("objects/pack/"+name+ext)); err != nil {
				panic(err)
			}
		}
	}
}

// A failed repack deletes its temporary packs, so the reader searches them last.
func TestTemporaryPacksAreSearchedLast(t *testing.T) {
	t.Parallel()
	r := fixture(t, 3)
	r.Git("repack", "-adq")
	final := strings.TrimSuffix(onlyPack(t, r), ".pack")
	s := open(t, r)
	requireSame(t, s, r)
	for _, ext := range []string{".pack", ".idx"} {
		require.NoError(t, os.Link(final+ext, r.GitPath("objects/pack/.tmp-7-pack-8"+ext)))
	}
	s.Refresh()
	for _, s := range []*Database{s, open(t, r)} {
		packs := s.all()[0].list()
		require.Len(t, packs, 2)
		require.Equal(t, final, packs[0].path)
	}
}

func TestReadAfterRepack(t *testing.T) {
	t.Parallel()
	r := fixture(t, 10)
	r.Git("gc", "-q")
	s := open(t, r)
	requireSame(t, s, r)
	closed := open(t, r) // has listed the pack but not opened it
	closed.all()[0].list()

	r.Write("new.txt", "new\n")
	r.Git("add", "-A")
	h := plumbing.NewHash(r.Commit("new"))
	r.Git("repack", "-adfq", "--depth=3")
	require.True(t, s.Has(h))
	requireSame(t, s, r)
	requireSame(t, closed, r)
}

func TestReadAfterGCPacksLooseObjects(t *testing.T) {
	t.Parallel()
	r := fixture(t, 3)
	s := open(t, r)
	requireSame(t, s, r)
	r.Git("gc", "-q", "--prune=now")
	requireSame(t, s, r)
}

func TestPrunedObjectIsMissing(t *testing.T) {
	t.Parallel()
	r := fixture(t, 3)
	h := plumbing.NewHash(r.Hash("nobody needs this"))
	s := open(t, r)
	require.True(t, s.Has(h))
	r.Git("gc", "-q", "--prune=now")
	requireAbsent(t, s, h)
}

// After a failed lookup, the database forgets deleted packs, including the most recently
// used pack.
func TestDeletedPackIsForgotten(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	h := plumbing.NewHash(r.Hash("text"))
	packOne(r, h.String())
	s := open(t, r)
	require.True(t, s.Has(h))
	path := strings.TrimSuffix(onlyPack(t, r), ".pack")
	require.NoError(t, os.Remove(path+".pack"))
	require.NoError(t, os.Remove(path+".idx"))
	requireAbsent(t, s, absent)
	requireAbsent(t, s, h)
}

func TestReadSkipsDamagedCopy(t *testing.T) {
	t.Parallel()
	r := fixture(t, 3)
	r.Git("gc", "-q")
	s := open(t, r)
	h := plumbing.NewHash(r.Git("rev-parse", "HEAD"))
	pack := onlyPack(t, r)
	_, content, err := s.Read(h)
	require.NoError(t, err)
	info, err := os.Stat(pack)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	require.NoError(t, os.Chmod(pack, 0o644))
	require.NoError(t, os.WriteFile(pack, make([]byte, info.Size()), 0o644))
	s = open(t, r)
	_, _, err = s.Read(h)
	var corrupt *CorruptObjectError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, pack, corrupt.Path)

	path := s.loosePath(h)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, stored(looseHeader(plumbing.CommitObject, len(content)), content), 0o444))
	_, again, err := s.Read(h)
	require.NoError(t, err)
	require.Equal(t, content, again)
}

func onlyPack(t testing.TB, r *gittest.Repo) string {
	t.Helper()
	packs, err := filepath.Glob(r.GitPath("objects/pack/*.pack"))
	require.NoError(t, err)
	require.Len(t, packs, 1)
	return packs[0]
}

func TestReadAfterCloseFails(t *testing.T) {
	t.Parallel()
	r := fixture(t, 1)
	s := open(t, r)
	h := plumbing.NewHash(r.Git("rev-parse", "HEAD"))
	require.True(t, s.Has(h))
	require.NoError(t, s.Close())
	_, _, err := s.Read(h)
	require.ErrorIs(t, err, ErrClosed)
}

func TestReadReturnsSeparateCopies(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	r := fixture(t, 30)
	r.Git("repack", "-adfq")
	s := open(t, r)
	for range 2 {
		for _, o := range everything(t, r) {
			_, content, err := s.Read(o.hash)
			require.NoError(t, err)
			require.Equal(t, o.content, content)
			clear(content)
		}
	}
}

func TestReadFetchesMissingObjectOfPartialClone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	origin := fixture(t, 3)
	origin.Git("config", "uploadpack.allowFilter", "true")
	origin.Git("config", "uploadpack.allowAnySHA1InWant", "true")
	clone := origin.In(filepath.Join(filepath.Dir(origin.Dir), "clone"))
	origin.Git("clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+origin.Dir, clone.Dir)
	h := plumbing.NewHash(clone.Git("rev-parse", "HEAD:big.txt"))

	s := open(t, clone)
	requireAbsent(t, s, h)
	s = open(t, clone, func(c *Config) { c.Promisor = true })
	require.False(t, s.Has(h), "asking does not fetch")
	kind, content, err := s.Read(h)
	require.NoError(t, err)
	require.Equal(t, plumbing.BlobObject, kind)
	require.Equal(t, origin.Read("big.txt"), string(content))
	require.True(t, s.Has(h), "git has stored it")
	_, _, err = s.Read(absent)
	require.ErrorIs(t, err, plumbing.ErrObjectNotFound)
}

// Packs are readable without memory mapping.
func TestReadWithoutMapping(t *testing.T) {
	t.Parallel()
	r := fixture(t, 15)
	r.Pipe([]byte(strings.Repeat("incompressible? no, but long. ", 20000)), "hash-object", "-w", "--stdin")
	r.Git("repack", "-adfq")
	base := strings.TrimSuffix(onlyPack(t, r), ".pack")
	f, err := os.Open(base + ".pack")
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	p := &pack{path: base}
	p.file.Store(&region{path: f.Name(), size: info.Size(), file: f})
	s := open(t, r)
	s.recent.Store(p)
	requireSame(t, s, r)
	require.Nil(t, p.file.Load().data)
	for _, other := range s.all()[0].list() {
		require.Nil(t, other.file.Load(), "the mapped pack was not needed")
	}
	p.close()
}

// Start returns the first bytes of commits in each storage format: loose, packed, delta.
func TestStartReturnsTheFirstBytes(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	var commits []plumbing.Hash
	for i := range 20 {
		var message strings.Builder
		for line := range 100 {
			fmt.Fprintf(&message, "line %d\n", (line+30*i)*7919)
		}
		commits = append(commits, plumbing.NewHash(r.Commit(message.String())))
	}
	requireStarts := func() {
		t.Helper()
		s := open(t, r)
		for _, h := range commits {
			_, whole, err := s.Read(h)
			require.NoError(t, err)
			for _, n := range []int{0, 1, 70, 300, maxStart - 1000, maxStart + 1} {
				kind, content, err := s.Start(h, n)
				require.NoError(t, err)
				require.Equal(t, plumbing.CommitObject, kind)
				require.Equal(t, string(whole[:min(n, len(whole), maxStart)]), string(content))
			}
		}
		_, _, err := s.Start(absent, 70)
		require.ErrorIs(t, err, plumbing.ErrObjectNotFound)
	}
	requireStarts()
	r.Git("repack", "-q", "-a", "-d", "-f")
	require.Contains(t, r.Git("verify-pack", "-v", onlyPack(t, r)), "chain length = 3")
	requireStarts()
}
