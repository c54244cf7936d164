package odb

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// Damage of packs causes errors. Later reads of intact objects succeed.
func TestDamagedPacksAreErrors(t *testing.T) {
	t.Parallel()
	r := fixture(t, 12)
	r.Git("repack", "-adfq")
	all := everything(t, r)
	path := onlyPack(t, r)
	for _, ext := range []string{".pack", ".idx"} {
		file := strings.TrimSuffix(path, ".pack") + ext
		good, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(file, 0o644))
		for _, damage := range []func() []byte{
			func() []byte { return good[:len(good)/2] },
			func() []byte { b := bytes.Clone(good); clear(b[len(b)/4 : len(b)/2]); return b },
			func() []byte { b := bytes.Clone(good); b[len(b)/3] ^= 0xff; return b },
		} {
			require.NoError(t, os.WriteFile(file, damage(), 0o644))
			s := open(t, r)
			loose := plumbing.NewHash(r.Hash("intact"))
			for _, o := range all {
				_, content, err := s.Read(o.hash) // without the check of the hash, content may differ
				require.True(t, err != nil || len(content) <= maxObject)
				require.True(t, s.Has(loose))
			}
		}
		require.NoError(t, os.WriteFile(file, good, 0o644))
		requireSame(t, open(t, r), r)
	}
}

// A damaged loose object is an error if there is no other copy.
func TestHostileLooseObjects(t *testing.T) { // not in parallel: it counts the allocated bytes of the process
	wrong := deflate([]byte("blob 7\x00content"))
	wrong[len(wrong)-1] ^= 1
	r := gittest.New(t)
	s := open(t, r)
	h := plumbing.ComputeHash(plumbing.BlobObject, []byte("content"))
	for what, raw := range map[string][]byte{
		"no header":       deflate([]byte("blob")),
		"no NUL":          deflate([]byte("blob 7content")),
		"no size":         deflate([]byte("blob \x00")),
		"a negative size": deflate([]byte("blob -1\x00")),
		"a huge size":     deflate([]byte("blob 99999999999999\x00content")),
		"an endless size": deflate([]byte("blob 99999999999999999999999999999999\x00")),
		"too short":       deflate([]byte("blob 8\x00content")),
		"too long":        deflate([]byte("blob 6\x00content")),
		"unknown type":    deflate([]byte("blub 7\x00content")),
		"a delta":         deflate([]byte("ofs-delta 7\x00content")),
		"garbage":         append(deflate([]byte("blob 7\x00content")), 0),
		"cut":             deflate([]byte("blob 7\x00content"))[:12],
		"no zlib":         []byte("blob 7\x00content"),
		"checksum":        wrong,
	} {
		loosen(t, s, h, raw)
		_, _, err := readLoose(s.loosePath(h))
		require.Error(t, err, what)
		if what != "a huge size" {
			require.ErrorContains(t, err, s.loosePath(h)+": corrupt: ", what)
		}
	}
	loosen(t, s, h, deflate(bytes.Repeat([]byte{'b'}, 64<<20)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readLoose(s.loosePath(h))
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "its header has no end")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	loosen(t, s, h, nil)
	requireAbsent(t, s, h)
	loosen(t, s, h, []byte("no object"))
	_, _, err = s.Read(h)
	require.ErrorContains(t, err, s.loosePath(h)+": corrupt: ")
	_, _, err = s.Header(h)
	require.ErrorContains(t, err, s.loosePath(h)+": corrupt: ")

	copied := r.In(filepath.Join(r.Dir, "copy"))
	require.NoError(t, os.Mkdir(copied.Dir, 0o777))
	copied.Git("init", "-q")
	packOne(copied, copied.Hash("content"))
	r.Write(".git/objects/info/alternates", copied.GitPath("objects")+"\n")
	requireObject(t, open(t, r), info{h, "blob", []byte("content")})
}

// Commits above maxCommit are rejected in each storage format. The next read succeeds.
func TestCommitAboveLimitIsRejected(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"fits": maxCommit, "too large": maxCommit + 1} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			content := bytes.Repeat([]byte{'a'}, size)
			out := r.Pipe(content, "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
			h := plumbing.NewHash(strings.TrimSpace(string(out)))
			small := plumbing.NewHash(r.Hash("small"))
			s := open(t, r)
			requireRead := func() {
				t.Helper()
				for range 2 {
					_, read, err := s.Read(h)
					if size > maxCommit {
						require.ErrorIs(t, err, ErrTooLarge)
					} else {
						require.NoError(t, err)
						require.Len(t, read, size)
					}
					_, got, err := s.Header(h)
					require.NoError(t, err)
					require.Equal(t, int64(size), got)
					requireObject(t, s, info{small, "blob", []byte("small")})
				}
			}
			requireRead()
			packOne(r, h.String())
			packOne(r, small.String())
			requireRead()
		})
	}
}
