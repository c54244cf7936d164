package odb

import (
	"bytes"
	"os"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A Walk reads objects that are named while it runs, of all sizes, and goes on after each damaged one.
func TestWalkGoesOnAfterDamage(t *testing.T) {
	t.Parallel()
	r := fixture(t, 3)
	large := bytes.Repeat([]byte("a large file\n"), maxHeld/10)
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
	want := map[plumbing.Hash]bool{}
	for _, o := range everything(t, r) {
		want[o.hash] = true
	}
	rottenLarge := hash(append(large, 'x'))
	damage(rottenLarge, file(intactLarge))
	rotten := damage(hash([]byte("rotten\n")), file(other))
	gone := damage(hash([]byte("gone\n")), nil)
	noise := damage(hash([]byte("noise\n")), []byte("noise"))
	cut := damage(hash([]byte("cut\n")), file(other)[:5])
	bad := []plumbing.Hash{rottenLarge, rotten, gone, noise, cut}

	s := open(t, r)
	for _, h := range bad {
		want[h] = true
	}
	found, first := map[plumbing.Hash]*Object{}, true
	require.NoError(t, s.Walk(t.Context(), []plumbing.Hash{noise, intactLarge}, func(o *Object) []plumbing.Hash {
		found[o.Hash] = o
		if !first {
			return nil
		}
		first = false
		delete(want, noise)
		delete(want, intactLarge)
		var more []plumbing.Hash
		for h := range want {
			more = append(more, h)
		}
		return more
	}))
	for h, o := range found {
		switch kind, content, err := open(t, r).Read(h); {
		case h == rotten || h == rottenLarge:
			require.ErrorIs(t, o.Err, ErrHash)
		case h == gone:
			require.ErrorIs(t, o.Err, plumbing.ErrObjectNotFound)
		case h == noise || h == cut:
			require.EqualError(t, o.Err, err.Error())
			assert.ErrorContains(t, o.Err, "corrupt")
		case h == intactLarge:
			require.NoError(t, o.Err)
			assert.Nil(t, o.Content)
		default:
			require.NoError(t, o.Err)
			assert.Equal(t, kind, o.Kind)
			assert.True(t, bytes.Equal(content, o.Content))
		}
	}
	assert.Len(t, found, len(want)+2)
	missing, err := s.Missing(t.Context(), []plumbing.Hash{gone, other})
	require.NoError(t, err)
	assert.Equal(t, map[plumbing.Hash]bool{gone: true}, missing)
}
