package index

import (
	"testing"

	"git-checkpoint/gitstore/internal/gittest"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type all struct{}

func (all) Has(plumbing.Hash) bool { return true }

type sink map[plumbing.Hash][]byte

func (s sink) Add(t plumbing.ObjectType, b []byte) plumbing.Hash {
	h := plumbing.ComputeHash(t, b)
	s[h] = b
	return h
}

func TestSmoke(t *testing.T) {
	r := gittest.New(t)
	r.Generate(10000)
	r.Stage(10000, 10, 1)
	x, err := Open(r.GitPath("index"))
	require.NoError(t, err)
	defer x.Close()
	s := sink{}
	h, err := x.WriteTree(all{}, s)
	require.NoError(t, err)
	assert.Equal(t, r.Git("write-tree"), h.String())
	assert.Len(t, s, 12+9)
	x.cache = cacheTree{}
	h, err = x.WriteTree(all{}, s)
	require.NoError(t, err)
	assert.Equal(t, r.Git("write-tree"), h.String())
}
