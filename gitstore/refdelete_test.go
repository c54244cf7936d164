package gitstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// left are n refs that killed fetches left, by their values.
func (w *world) left(n int) map[string]plumbing.Hash {
	w.t.Helper()
	tip := w.Git("rev-parse", "HEAD")
	var in []byte
	seen := map[string]plumbing.Hash{}
	for k := range n {
		name := fmt.Sprintf("%s1-%d/%d", incomingRefs, k%7, k)
		in = fmt.Appendf(in, "create %s %s\n", name, tip)
		seen[name] = plumbing.NewHash(tip)
	}
	w.Pipe(in, "update-ref", "--stdin")
	return seen
}

func (w *world) incomingLeft() string {
	return w.Git("for-each-ref", "--format=%(refname)", incomingRefs)
}

// Thousands of refs go in one transaction, and a fetch that finds them is not
// held up.
func TestSweepsManyLeftRefs(t *testing.T) {
	w := newWorld(t)
	w.left(2000)
	w.Git("pack-refs", "--all")
	w.Git("update-ref", incomingRefs+"2-1/42", "HEAD")
	trace := filepath.Join(t.TempDir(), "trace")
	w.s.git = w.s.git.With("GIT_TRACE=" + trace)
	w.s.sweepIncoming(ctx)
	assert.Empty(t, w.incomingLeft())
	said, err := os.ReadFile(trace)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(said), "built-in: git update-ref"), "%s", said)
}

// One that somebody moved, removed, or has locked keeps no other from going.
func TestDeletesWhatItCan(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(w *world, ref string)
		fails     bool
		stays     bool
	}{
		"gone":   {func(w *world, ref string) { w.Git("update-ref", "-d", ref) }, false, false},
		"moved":  {func(w *world, ref string) { w.Git("update-ref", ref, w.Commit("more")) }, false, true},
		"locked": {func(w *world, ref string) { w.put(ref+".lock", "") }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			seen := w.left(20)
			ref := incomingRefs + "1-3/10"
			require.Contains(t, seen, ref)
			c.meanwhile(w, ref)
			err := w.s.deleteRefs(ctx, seen)
			assert.Equal(t, c.fails, err != nil, "%v", err)
			if c.stays {
				assert.Equal(t, ref, w.incomingLeft())
			} else {
				assert.Empty(t, w.incomingLeft())
			}
		})
	}
}
