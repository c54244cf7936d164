package gitstore

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// padRefs adds so many refs that packed-refs is large enough for the note about the tips.
func padRefs(w *world) {
	w.t.Helper()
	var in strings.Builder
	for n := range 800 {
		fmt.Fprintf(&in, "create refs/pad/%d HEAD\n", n)
	}
	_, err := w.Run([]byte(in.String()), "update-ref", "--stdin")
	require.NoError(w.t, err)
	w.Git("pack-refs", "--all", "--prune")
}

// age makes packed-refs and the folder of own notes older, if they are young, so that the note is
// settled. Each has another time.
func (w *world) age(n int) {
	for _, name := range []string{"packed-refs", "git-checkpoint/own"} {
		if info, err := os.Stat(w.GitPath(name)); err == nil && time.Since(info.ModTime()) < time.Minute {
			at := time.Now().Add(-time.Hour).Add(time.Duration(n) * time.Second)
			_ = os.Chtimes(w.GitPath(name), at, at)
		}
	}
}

// saveOn saves a checkpoint of an issue on a branch.
func (w *world) saveOn(branch string, i checkpoint.Issue) *Saved {
	w.t.Helper()
	w.Git("symbolic-ref", "HEAD", "refs/heads/"+branch)
	req := w.request(checkpoint.Manual)
	req.Issue = i
	return w.save(req)
}

// onBranch returns the issues whose newest checkpoint is on a branch.
func onBranch(t testing.TB, s *Store, branch string, renamed bool) []checkpoint.Issue {
	t.Helper()
	found := []checkpoint.Issue{}
	require.NoError(t, s.EachOnBranch(ctx, branch, renamed, func(i checkpoint.Issue) bool {
		l, err := s.List(ctx, i, 0)
		require.NoError(t, err)
		isFormer := func(c Checkpoint) bool { return c.Branch == string(i) }
		if string(i) == branch && renamed {
			return true
		}
		if len(l.Checkpoints) > 0 && l.Checkpoints[0].Branch == branch && (!renamed || slices.ContainsFunc(l.Checkpoints, isFormer)) {
			found = append(found, i)
		}
		return true
	}))
	slices.Sort(found)
	return found
}

// checkTips compares the answers of the note with the answers from all chains.
func (w *world) checkTips(step string) {
	w.t.Helper()
	s := w.open(w.Dir)
	last, err := s.LastSaved(ctx, 3)
	require.NoError(w.t, err, step)
	byBranch := map[string][]checkpoint.Issue{}
	renamed := map[string][]checkpoint.Issue{}
	for _, branch := range tipBranches {
		byBranch[branch] = onBranch(w.t, s, branch, false)
		renamed[branch] = onBranch(w.t, s, branch, true)
	}
	tips, _, err := s.NewestOfEach(ctx)
	require.NoError(w.t, err, step)
	slices.SortFunc(tips, func(a, b Tip) int {
		return cmp.Or(CompareTips(a, b), checkpoint.CompareIssues(a.Issue, b.Issue))
	})
	assert.Equal(w.t, LastSaved{tips[:min(3, len(tips))], len(tips) - min(3, len(tips))}, last, step)
	for _, branch := range tipBranches {
		want, wantRenamed := []checkpoint.Issue{}, []checkpoint.Issue{}
		for _, tip := range tips {
			if tip.Checkpoint == nil || tip.Checkpoint.Branch != branch {
				continue
			}
			want = append(want, tip.Issue)
			l, err := s.List(ctx, tip.Issue, 0)
			require.NoError(w.t, err)
			isFormer := func(c Checkpoint) bool { return c.Branch == string(tip.Issue) }
			if string(tip.Issue) != branch && slices.ContainsFunc(l.Checkpoints, isFormer) {
				wantRenamed = append(wantRenamed, tip.Issue)
			}
		}
		slices.Sort(want)
		slices.Sort(wantRenamed)
		assert.Equal(w.t, want, byBranch[branch], "%s: on %s", step, branch)
		assert.Equal(w.t, wantRenamed, renamed[branch], "%s: renamed to %s", step, branch)
	}
}

var tipBranches = []string{"main", "work/a", "feature/x%2", "one", "two"}

// Whatever moves refs, the note about the tips gives the answers of the chains themselves: saves,
// drops, plain git that deletes refs or sets them back, and git pack-refs.
func TestTipsNoteAnswersAsTheChains(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	issues := []checkpoint.Issue{"one", "two", "3", "12", "a%b", "x.lock"}
	for _, i := range issues {
		w.saveOn("main", i)
	}
	padRefs(w)
	random := rand.New(rand.NewPCG(1, 2))
	used := 0
	for n := range 90 {
		w.age(n)
		i, branch := issues[random.IntN(len(issues))], tipBranches[random.IntN(len(tipBranches))]
		step := fmt.Sprintf("%d: %s on %s", n, i, branch)
		switch random.IntN(8) {
		case 0, 1, 2:
			w.saveOn(branch, i)
		case 3:
			if l, err := w.s.List(ctx, i, 0); err == nil && len(l.Checkpoints) > 0 {
				step += " drop"
				require.NoError(t, w.s.Drop(ctx, i, []checkpoint.ID{l.Checkpoints[0].ID}))
			}
		case 4:
			step += " deleted by git"
			w.Git("update-ref", "-d", LiveRef(i))
		case 5:
			if c, err := w.s.Newest(ctx, i); err == nil {
				step += " set back by git"
				w.Git("update-ref", LiveRef(i), c.Commit.String()+"~1")
			}
		case 6:
			step += " mirrored away"
			w.Git("update-ref", "-d", LiveRef(i))
			w.Git("update-ref", "-d", "refs/git-checkpoint/own/"+i.RefName())
		default:
			step += " packed"
			w.Git("pack-refs", "--all", "--prune")
		}
		before, _ := os.ReadFile(w.GitPath("git-checkpoint/tips"))
		w.checkTips(step)
		after, _ := os.ReadFile(w.GitPath("git-checkpoint/tips"))
		if len(before) > 0 && string(before) == string(after) {
			used++
		}
	}
	assert.Greater(t, used, 10, "the note was used")
	w.checkTips("at the end")
}

// A note of another time, or a damaged one, changes no answer.
func TestTipsNoteIsNotTrusted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.saveOn("main", "one")
	w.saveOn("main", "two")
	padRefs(w)
	w.age(1)
	w.checkTips("new note")
	note := w.GitPath("git-checkpoint/tips")
	old, err := os.ReadFile(note)
	require.NoError(t, err)
	require.Contains(t, string(old), " settled\n")
	w.saveOn("one", "two")
	w.Git("pack-refs", "--all", "--prune")
	w.age(2)
	for name, data := range map[string]string{
		"old":     string(old),
		"empty":   "",
		"cut":     string(old[:len(old)/2]),
		"foreign": "# pack-refs with: sorted tips-1 x\n",
		"later":   strings.Replace(string(old), "tips-1", "tips-2", 1),
	} {
		require.NoError(t, os.WriteFile(note, []byte(data), 0o600))
		w.checkTips(name)
	}
}

// Processes that save and processes that write the note do not disturb each other.
func TestTipsNoteBesideSaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.saveOn("main", "one")
	w.saveOn("main", "two")
	padRefs(w)
	var wait sync.WaitGroup
	for _, i := range []checkpoint.Issue{"one", "two", "three"} {
		s := w.open(w.Dir)
		wait.Go(func() {
			for range 10 {
				req := w.request(checkpoint.Manual)
				req.Issue = i
				_, err := s.Save(ctx, req)
				assert.NoError(t, err)
				last, err := s.LastSaved(ctx, 5)
				assert.NoError(t, err)
				has := slices.ContainsFunc(last.Tips, func(tip Tip) bool { return tip.Issue == i })
				assert.True(t, has, "%s in %v", i, last)
			}
		})
	}
	wait.Go(func() {
		for range 5 {
			_, err := w.Run(nil, "pack-refs", "--all", "--prune")
			assert.NoError(t, err)
		}
	})
	wait.Wait()
	w.checkTips("at the end")
	for _, i := range []checkpoint.Issue{"one", "two", "three"} {
		l, err := w.s.List(ctx, i, 0)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, len(l.Checkpoints), 10)
	}
}
