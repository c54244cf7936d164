package odb

import (
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
		"loose": func(*gittest.Repo) {},
		"gc":    func(r *gittest.Repo) { r.Git("gc", "-q") },
		"half":  func(r *gittest.Repo) { r.Git("repack", "-dq"); r.Hash("a new one"); r.Hash("") },
		"loose level 9": func(r *gittest.Repo) {
			r.Pipe([]byte(strings.Repeat("text ", 50000)), "-c", "core.looseCompression=9", "hash-object", "-w", "--stdin")
		},
	} {
		for _, isOld := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := fixture(t, 10)
				arrange(r)
				s := open(t, r)
				s.cat.isOld = isOld
				requireSame(t, s, r)
				requireAbsent(t, s, absent)
			})
		}
	}
}

// Git finds objects that are newer than its process. If it is killed in the middle of an answer, the
// next read starts it again.
func TestReadSurvivesChangesAndKills(t *testing.T) {
	t.Parallel()
	r := fixture(t, 10)
	r.Git("gc", "-q")
	s := open(t, r)
	requireSame(t, s, r)
	r.Write("new.txt", "new\n")
	r.Git("add", "-A")
	h := plumbing.NewHash(r.Commit("new"))
	r.Git("repack", "-adfq", "--depth=3")
	require.True(t, s.Has(h))
	requireSame(t, s, r)
	_, err := s.cat.running.run.Write([]byte("contents " + h.String() + "\n"))
	require.NoError(t, err)
	_ = s.cat.running.run.Kill()
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
	requireSame(t, s, r)
}

func onlyPack(t testing.TB, r *gittest.Repo) string {
	t.Helper()
	packs, err := filepath.Glob(r.GitPath("objects/pack/*.pack"))
	require.NoError(t, err)
	require.Len(t, packs, 1)
	return packs[0]
}

// A partial clone fetches an object only to read it, never to look for it. No read follows git replace.
func TestReadFetchesMissingObjectOfPartialClone(t *testing.T) {
	t.Parallel()
	origin := fixture(t, 3)
	origin.Git("config", "uploadpack.allowFilter", "true")
	origin.Git("config", "uploadpack.allowAnySHA1InWant", "true")
	clone := origin.In(filepath.Join(filepath.Dir(origin.Dir), "clone"))
	origin.Git("clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+origin.Dir, clone.Dir)
	h := plumbing.NewHash(clone.Git("rev-parse", "HEAD:big.txt"))

	s := open(t, clone)
	requireAbsent(t, s, h)
	s = open(t, clone, func(c *Config) { c.Fetch = c.Git.Pipe })
	require.False(t, s.Has(h), "asking does not fetch")
	kind, content, err := s.Read(h)
	require.NoError(t, err)
	require.Equal(t, plumbing.BlobObject, kind)
	require.Equal(t, origin.Read("big.txt"), string(content))
	require.True(t, s.Has(h), "git has stored it")
	_, _, err = s.Read(absent)
	require.Error(t, err)

	clone.Git("replace", h.String(), clone.Hash("replacement"))
	_, content, err = open(t, clone).Read(h)
	require.NoError(t, err)
	require.Equal(t, origin.Read("big.txt"), string(content))
}

// After Close, an object of a deleted pack is missing.
func TestCloseForgetsDeletedPacks(t *testing.T) {
	t.Parallel()
	r := fixture(t, 2)
	r.Git("gc", "-q")
	head := plumbing.NewHash(r.Git("rev-parse", "HEAD"))
	s := open(t, r)
	require.True(t, s.Has(head))
	require.NoError(t, os.Remove(onlyPack(t, r)))
	s.Close()
	require.False(t, s.Has(head))
}

// ReadAhead reads as many commits as it is told, and as git reads them. What it cannot read, it leaves to
// later reads.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	r := fixture(t, 300)
	r.Git("repack", "-adq")
	list := strings.Fields(r.Git("rev-list", "--first-parent", "HEAD"))
	s, packs := open(t, r), r.GitPath("objects/pack")
	most := 250
	s.ReadChainAhead(plumbing.NewHash(list[0]), most)
	s.Close()
	require.NoError(t, os.Rename(packs, packs+".away"))
	for n, hex := range list {
		kind, content, err := s.Read(plumbing.NewHash(hex))
		if n >= most {
			require.ErrorIs(t, err, plumbing.ErrObjectNotFound)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, hex, plumbing.ComputeHash(kind, content).String())
	}
	last := plumbing.NewHash(list[len(list)-1])
	s.ReadAhead([]plumbing.Hash{last, plumbing.ZeroHash})
	requireAbsent(t, s, last)
	require.NoError(t, os.Rename(packs+".away", packs))
	_, _, err := s.Read(last)
	require.NoError(t, err)
}
