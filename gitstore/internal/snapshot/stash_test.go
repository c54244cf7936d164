package snapshot_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStashApplyRestoresRandomWorlds saves random worlds, cleans the worktree, and gives the work
// back with git alone: git stash apply --index. Files, modes and the status are those of the save.
// The kinds of work that git gives back in another way have names, and most worlds have none.
func TestStashApplyRestoresRandomWorlds(t *testing.T) {
	t.Parallel()
	worlds := 25
	if gittest.Torture() {
		worlds = 200
	}
	if testing.Short() {
		worlds = 3
	}
	var exact atomic.Int64
	named := make([]string, worlds)
	t.Run("worlds", func(t *testing.T) {
		for n := range worlds {
			seed := uint64(gittest.Day()*1000 + n)
			t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
				t.Parallel()
				if named[n] = stashApply(t, rand.New(rand.NewPCG(seed, 3))); named[n] == "" {
					exact.Add(1)
				}
			})
		}
	})
	counts := map[string]int{}
	for _, name := range named {
		counts[name]++
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%d worlds: %s", counts[name], name)
	}
	assert.GreaterOrEqual(t, int(exact.Load())*3, worlds, "worlds that are exact without an exception")
}

// stashApply is one world. It returns the exceptions of the status, or "".
func stashApply(t *testing.T, random *rand.Rand) string {
	w := newTakes(t)
	w.Write("a", "a\n")
	w.Write("d/b", "b\n")
	w.Write("d/c", "c\n")
	w.Git("add", "-A")
	w.Commit("first")
	var done []string
	for range 3 + random.IntN(25) {
		done = append(done, w.step(random))
	}
	w.Write("staged", "staged\n")
	if random.IntN(8) > 0 {
		w.Git("add", "-f", "staged")
	}
	what := strings.Join(done, ", ")
	s, err := gitstore.Open(ctx, gitstore.Options{Dir: w.Dir})
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Save(ctx, (&world{}).request(checkpoint.Manual))
	require.NoError(t, err, what)
	files, status := w.worktree(), w.status()
	except := w.exceptions(files)
	w.Git("reset", "-q", "--hard")
	w.Git("clean", "-q", "-ffdx") // with ignored files: another .gitignore may be back
	require.Empty(t, w.status(), what)
	_, err = w.Run(nil, "stash", "apply", "-q", "--index", "refs/checkpoints/42^2")
	if !assert.NoError(t, err, "%s: %v", what, except) {
		return "failed"
	}
	now := w.status()
	for name := range except { // ignored files that were tracked
		_, _ = w.Run(nil, "add", "-f", "-N", "--", name)
	}
	assert.Equal(t, files, w.worktree(), what)
	for name := range except {
		delete(status, name)
		delete(now, name)
	}
	if _, err := w.Run(nil, "diff", "--quiet", "refs/checkpoints/42^2^", "refs/checkpoints/42^2^2"); err == nil {
		except["*"] = "nothing staged: new files are staged"
		for name, xy := range now {
			if xy == "A " {
				now[name] = "??"
			}
		}
	}
	assert.Equal(t, status, now, "%s: %v", what, except)
	kinds := slices.Sorted(maps.Values(except))
	return strings.Join(slices.Compact(kinds), ", ")
}

// status returns the two letters of git status by path.
func (w *takes) status() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, line := range strings.Split(string(w.Pipe(nil, "status", "--porcelain", "-z", "-uall", "--no-renames")), "\x00") {
		if len(line) > 3 {
			found[line[3:]] = line[:2]
		}
	}
	return found
}

// exceptions returns the paths whose status git gives back in another way, with the kind.
func (w *takes) exceptions(files map[string]string) map[string]string {
	w.t.Helper()
	except := map[string]string{}
	for _, line := range strings.Split(string(w.Pipe(nil, "ls-files", "-z", "-u")), "\x00") {
		if _, name, ok := strings.Cut(line, "\t"); ok {
			except[name] = "unmerged"
		}
	}
	for _, line := range strings.Split(string(w.Pipe(nil, "ls-files", "-z", "-s")), "\x00") {
		if entry, name, _ := strings.Cut(line, "\t"); strings.Contains(entry, w.Hash("")) && name != ".gitignore" {
			except[name] = "intent to add"
		}
	}
	for _, name := range strings.Split(string(w.Pipe(nil, "diff", "-z", "--name-only", "--diff-filter=D")), "\x00") {
		for other := range files {
			if name != "" && (strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/")) {
				except[name] = "unstaged change between a file and a folder"
			}
		}
	}
	return except
}
