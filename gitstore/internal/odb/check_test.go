package odb

import (
	"bytes"
	"os"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"
)

// Check reads objects of all sizes, loose and packed, and goes on after each damaged one.
func TestCheckGoesOnAfterDamage(t *testing.T) {
	t.Parallel()
	r := fixture(t, 3)
	large := bytes.Repeat([]byte("a large file\n"), 100_000)
	hash := func(content []byte) plumbing.Hash {
		return plumbing.NewHash(string(bytes.TrimSpace(r.Pipe(content, "hash-object", "-w", "--stdin"))))
	}
	intactLarge, other := hash(large), hash([]byte("other\n"))
	damage := func(h plumbing.Hash, data []byte) plumbing.Hash {
		path := loosePath(r.GitPath("objects"), h)
		require.NoError(t, os.Remove(path))
		if data != nil {
			require.NoError(t, os.WriteFile(path, data, 0o444))
		}
		return h
	}
	file := func(h plumbing.Hash) []byte {
		data, err := os.ReadFile(loosePath(r.GitPath("objects"), h))
		require.NoError(t, err)
		return data
	}
	packed := hash([]byte("packed\n"))
	packOne(r, packed.String())
	packOne(r, intactLarge.String())
	loosen(t, open(t, r), intactLarge, deflate(append([]byte("blob 1300000\x00"), large...)))
	var intact []plumbing.Hash
	for _, o := range everything(t, r) {
		intact = append(intact, o.hash)
	}
	rottenLarge := hash(append(large, 'x'))
	damage(rottenLarge, file(intactLarge))
	rotten := damage(hash([]byte("rotten\n")), file(other))
	gone := damage(hash([]byte("gone\n")), nil)
	noise := damage(hash([]byte("noise\n")), []byte("noise"))
	cut := damage(hash([]byte("cut\n")), file(other)[:5])
	s := open(t, r)
	loosen(t, s, packed, []byte("noise")) // the pack has an intact copy
	for range 2 {
		for h, want := range map[plumbing.Hash]error{rottenLarge: ErrHash, rotten: ErrHash, gone: plumbing.ErrObjectNotFound} {
			require.ErrorIs(t, s.Check(h), want)
		}
		for _, h := range []plumbing.Hash{noise, cut} {
			_, _, err := s.Read(h)
			require.EqualError(t, s.Check(h), err.Error())
			require.ErrorContains(t, err, "corrupt")
		}
		for _, h := range intact {
			require.NoError(t, s.Check(h))
		}
		r.Git("repack", "-dq") // the second time, objects of commits are packed
	}
	s.Hold(true)
	s.ReadAhead([]plumbing.Hash{rotten})
	_, _, err := s.Read(rotten)
	require.ErrorIs(t, err, ErrHash)
	s.Hold(false)
	_, _, err = s.Read(rotten)
	require.NoError(t, err, "read without a check")
}
