package odb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConsolidateBoundsPacks checks that packs of this program are replaced by one pack,
// and that other packs stay, also those with a .keep file.
func TestConsolidateBoundsPacks(t *testing.T) {
	t.Parallel()
	r := fixture(t, 5)
	r.Git("repack", "-qad")
	s := open(t, r)
	foreign, err := filepath.Glob(r.GitPath("objects/pack/*.pack"))
	require.NoError(t, err)
	var notes packNotes
	var all []plumbing.Hash
	for round := range 20 {
		mine := written(t, s, 100*round, 10)
		all = append(all, mine...)
		_, err := s.Consolidate(t.Context(), mine, notes.options())
		require.NoError(t, err)
		if round == 0 {
			require.NoError(t, os.WriteFile(filepath.Join(s.packDir(), notes[0]+".keep"), nil, 0o644))
		}
	}
	packs, err := filepath.Glob(r.GitPath("objects/pack/*.pack"))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(packs), 7)
	assert.Subset(t, packs, foreign)
	assert.FileExists(t, filepath.Join(s.packDir(), notes[0]+".pack"))
	allReadable(t, r, s, all)

	r.Git("multi-pack-index", "write")
	mine := written(t, s, 5000, 500)
	done, err := s.Consolidate(t.Context(), mine, notes.options())
	require.NoError(t, err)
	assert.Empty(t, done.Removed, "a multi-pack index names the packs")
	allReadable(t, r, s, append(all, mine...))
}

// TestConsolidateNotesNoForeignPack checks that a pack with an object of another program is
// not replaced, also if it has the loose objects of the caller.
func TestConsolidateNotesNoForeignPack(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	s := open(t, r)
	mine := written(t, s, 0, 5)
	r.Write("foreign", "of another program")
	var list strings.Builder
	for _, h := range mine {
		fmt.Fprintln(&list, h)
	}
	list.WriteString(r.Git("hash-object", "-w", "foreign"))
	r.Pipe([]byte(list.String()), "pack-objects", "-q", r.GitPath("objects/pack/pack"))
	var notes packNotes
	_, err := s.Consolidate(t.Context(), mine, notes.options())
	require.NoError(t, err)
	assert.Empty(t, notes)
	assert.Equal(t, 1, looseCount(t, r), "the foreign object")
	allReadable(t, r, s, mine)
}

// TestConsolidateKeepsPacksThatGitUses checks that replaced packs stay if git has begun to
// use them since they were read. The next call replaces them.
func TestConsolidateKeepsPacksThatGitUses(t *testing.T) {
	t.Parallel()
	maintained := false
	for name, use := range map[string]struct{ begin, end func(r *gittest.Repo) }{
		"multi-pack index": {
			func(r *gittest.Repo) { r.Git("multi-pack-index", "write") },
			func(r *gittest.Repo) {
				r.Git("multi-pack-index", "verify")
				require.NoError(t, os.Remove(r.GitPath("objects/pack/multi-pack-index")))
			},
		},
		"git maintenance": {
			func(*gittest.Repo) { maintained = true },
			func(*gittest.Repo) { maintained = false },
		},
		"git repack": {
			func(r *gittest.Repo) { r.Write(".git/objects/pack/.tmp-1-pack-2.pack", "") },
			func(r *gittest.Repo) { // as after a killed git
				yesterday := time.Now().AddDate(0, 0, -1)
				require.NoError(t, os.Chtimes(r.GitPath("objects/pack/.tmp-1-pack-2.pack"), yesterday, yesterday))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			s := open(t, r)
			var notes packNotes
			all := written(t, s, 0, 10)
			consolidate := func(loose []plumbing.Hash) *Consolidated {
				o := notes.options()
				o.IsMaintained = func() bool { return maintained }
				done, err := s.Consolidate(t.Context(), loose, o)
				require.NoError(t, err)
				assert.Zero(t, looseCount(t, r))
				allReadable(t, r, s, all)
				return done
			}
			consolidate(all)
			s.trace = func(step, _ string) {
				if step == "pack" {
					use.begin(r)
				}
			}
			second := written(t, s, 100, 10)
			all = append(all, second...)
			assert.Empty(t, consolidate(second).Removed)

			use.end(r)
			s.trace = nil
			third := written(t, s, 200, 10)
			all = append(all, third...)
			assert.ElementsMatch(t, notes[:2], consolidate(third).Removed)
		})
	}
}
