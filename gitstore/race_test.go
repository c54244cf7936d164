package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Cancelled saves leave no lock. Their chain is either unchanged or contains the new
// checkpoint.
func TestCancelledSaves(t *testing.T) {
	gittest.Slow(t)
	w := newWorld(t)
	w.manual(1)
	for i := range 40 {
		w.Write("a.txt", fmt.Sprint(i))
		w.Git("add", "a.txt")
		short, cancel := context.WithTimeout(ctx, time.Duration(i)*500*time.Microsecond)
		before := w.live()
		saved, err := w.s.Save(short, w.request(checkpoint.Manual))
		cancel()
		after := w.live()
		if err == nil {
			assert.Equal(t, append(before, saved.ID), after)
		} else if len(after) != len(before) {
			assert.Contains(t, err.Error(), string(after[len(after)-1]), "it says that it is in the chain")
		}
	}
	err := filepath.WalkDir(w.GitPath("."), func(path string, _ os.DirEntry, err error) error {
		assert.False(t, strings.HasSuffix(path, ".lock"), path)
		return err
	})
	require.NoError(t, err)
	w.sound()
}

// Objects that a gc deletes after the ref moved are written again.
func TestGCBetweenWriteAndMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("a.txt", "staged\n")
	w.Git("add", "-A")
	k := w.s.repo.NewObjectWriter()
	tree := k.AddTree([]trees.Entry{{Mode: trees.ModeFile, Name: "x", Hash: k.Add(3, []byte("content"))}})
	require.NoError(t, k.Flush(ctx))
	w.Git("prune", "--expire=now")
	_, err := w.Run(nil, "cat-file", "-e", tree.String())
	require.Error(t, err, "git took it")
	require.NoError(t, k.Protect(ctx))
	w.Git("cat-file", "-e", tree.String())
}

// A collection that ends at any point of a save leaves a sound repository, even if it has
// deleted a blob that the user does not stage any more: the save takes a new snapshot. "late"
// deletes this blob alone, as a git prune that listed the refs long before.
func TestSaveBesideCollection(t *testing.T) {
	t.Parallel()
	collectors := map[string][]string{
		"gc": {"gc", "-q", "--prune=now"}, "prune": {"prune", "--expire=now"}, "repack": {"repack", "-adq"}, "late": nil,
	}
	situations := map[string]func(w *world){
		"unstaged":  func(w *world) { w.Git("reset", "-q") },
		"re-staged": func(w *world) { w.Write("a.txt", "other\n"); w.Git("add", "a.txt") },
		"committed": func(w *world) { w.Git("commit", "-qm", "work") },
		"removed":   func(w *world) { w.Git("reset", "-q", "--hard") },
		"packed":    func(w *world) { w.Git("reset", "-q"); w.Git("pack-refs", "--all") },
	}
	for collector, args := range collectors {
		for situation, change := range situations {
			for _, point := range []string{"written", "checked", "moved"} {
				for _, first := range []bool{false, true} {
					if collector != "late" && point == "moved" || collector == "late" && situation == "committed" {
						continue // a ref protects the objects
					}
					t.Run(fmt.Sprintf("%s/%s/%s/first=%v", collector, situation, point, first), func(t *testing.T) {
						t.Parallel()
						if testing.Short() && situation != "unstaged" {
							t.Skip("slow: not in short mode")
						}
						w := newWorld(t)
						if !first {
							w.manual(1)
						}
						before := w.live()
						w.Write("a.txt", "staged "+t.Name()+"\n")
						w.Write("dir/new.txt", "new "+t.Name()+"\n")
						w.Git("add", "-A")
						w.Git("write-tree")
						blob := w.loose(w.Hash("staged " + t.Name() + "\n"))
						collected := false
						w.s.repo.AtPoint = func(at string) {
							if collected && at == "moved" && point == "written" {
								w.Git("fsck", "--connectivity-only", "--no-dangling") // repaired before the move
							}
							if at != point || collected {
								return
							}
							collected = true
							change(w)
							if args == nil {
								require.NoError(t, os.Remove(blob))
								return
							}
							w.Git(args...)
						}
						saved, err := w.s.Save(ctx, w.request(checkpoint.Manual))
						w.sound()
						if err != nil {
							require.ErrorIs(t, err, repo.ErrObjectsGone)
							assert.Equal(t, before, w.live())
							return
						}
						assert.Equal(t, append(before, saved.ID), w.live())
						w.Git("gc", "-q", "--prune=now")
						w.sound()
						w.manual(1)
					})
				}
			}
		}
	}
}

// Unreferenced trees that git made for the index become as durable as checkpoint objects.
func TestTreesOfIndexAreFreshened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("dir/b.txt", "staged\n")
	w.Git("add", "-A")
	w.Git("write-tree")
	for _, rev := range []string{":dir", ":dir/b.txt"} {
		old := time.Now().Add(-30 * 24 * time.Hour)
		hash := w.Git("rev-parse", strings.Replace(rev, ":dir", w.Git("write-tree")+":dir", 1))
		require.NoError(t, os.Chtimes(w.loose(hash), old, old))
		defer func() {
			info, err := os.Stat(w.loose(hash))
			require.NoError(t, err)
			assert.WithinDuration(t, time.Now(), info.ModTime(), time.Hour, rev)
		}()
	}
	w.manual(1)
}
