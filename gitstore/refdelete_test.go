package gitstore

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// left creates n refs, as left by killed fetches, and returns their values.
func (w *world) left(n int) map[string]plumbing.Hash {
	w.t.Helper()
	tip := w.Git("rev-parse", "HEAD")
	var in []byte
	seen := map[string]plumbing.Hash{}
	for k := range n {
		name := fmt.Sprintf("%s1-%d/%d", remote.Incoming, k%7, k)
		in = fmt.Appendf(in, "create %s %s\n", name, tip)
		seen[name] = plumbing.NewHash(tip)
	}
	w.Pipe(in, "update-ref", "--stdin")
	return seen
}

func (w *world) incomingLeft() string {
	return w.Git("for-each-ref", "--format=%(refname)", remote.Incoming)
}

// A moved, deleted or locked ref is an error, and no other ref is deleted.
func TestDeleteRefsDeletesAllOrNone(t *testing.T) {
	gittest.Slow(t)
	for name, c := range map[string]struct {
		meanwhile func(w *world, ref string)
		stays     int // refs
	}{
		"none":   {func(*world, string) {}, 0},
		"gone":   {func(w *world, ref string) { w.Git("update-ref", "-d", ref) }, 19},
		"moved":  {func(w *world, ref string) { w.Git("update-ref", ref, w.Commit("more")) }, 20},
		"locked": {func(w *world, ref string) { w.put(ref+".lock", "") }, 20},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			seen := w.left(20)
			ref := remote.Incoming + "1-3/10"
			require.Contains(t, seen, ref)
			c.meanwhile(w, ref)
			err := w.s.repo.DeleteRefs(ctx, seen)
			assert.Equal(t, c.stays > 0, err != nil, "%v", err)
			assert.Len(t, strings.Fields(w.incomingLeft()), c.stays)
		})
	}
}
