package snapshot_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A takes is a repository in which a test takes states.
type takes struct {
	*gittest.Repo
	t   *testing.T
	req snapshot.Request
}

func newTakes(t *testing.T) *takes { return &takes{Repo: gittest.New(t), t: t} }

// take takes the state with a new process's view of the repository.
func (w *takes) take() *snapshot.State {
	w.t.Helper()
	st, err := w.try()
	require.NoError(w.t, err)
	return st
}

func (w *takes) try() (*snapshot.State, error) {
	w.t.Helper()
	r, err := repo.Open(w.t.Context(), repo.Options{Dir: w.Dir})
	require.NoError(w.t, err)
	defer r.Close()
	k := r.NewObjectWriter()
	st, err := snapshot.New(r, chain.New(r)).Take(w.t.Context(), w.req, k)
	if err == nil && !w.req.DryRun {
		require.NoError(w.t, k.Flush(w.t.Context()))
	}
	return st, err
}

// files returns the files of a tree: "<mode> <hash>" by path.
func (w *takes) files(tree string) map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, line := range strings.Split(w.Git("ls-tree", "-r", "-z", tree), "\x00") {
		if head, name, ok := strings.Cut(line, "\t"); ok {
			f := strings.Fields(head)
			found[name] = f[0] + " " + f[2]
		}
	}
	return found
}

// worktree returns the files of the worktree that a save takes, found without an index of the
// program: each file that git does not ignore, or tracks.
func (w *takes) worktree() map[string]string {
	w.t.Helper()
	var names []string
	require.NoError(w.t, filepath.WalkDir(w.Dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.Dir, name)
		if err != nil || d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if _, err := os.Lstat(filepath.Join(name, ".git")); d.IsDir() && rel != "." && err == nil {
			return fs.SkipDir
		}
		if !d.IsDir() {
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	}))
	tracked := map[string]bool{}
	for _, name := range strings.Split(w.Git("ls-files", "-z"), "\x00") {
		tracked[name] = true
	}
	ignored := map[string]bool{}
	if len(names) > 0 {
		out, _ := w.Run([]byte(strings.Join(names, "\x00")), "check-ignore", "-z", "--stdin", "--no-index")
		for _, name := range strings.Split(string(out), "\x00") {
			ignored[name] = true
		}
	}
	found := map[string]string{}
	for _, name := range names {
		if ignored[name] && !tracked[name] {
			continue
		}
		info, err := os.Lstat(w.Path(name))
		require.NoError(w.t, err)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(w.Path(name))
			require.NoError(w.t, err)
			found[name] = "120000 " + w.Hash(to)
		case info.Mode()&0o100 != 0:
			found[name] = "100755 " + w.Git("-c", "core.safecrlf=false", "hash-object", "--", name)
		default:
			found[name] = "100644 " + w.Git("-c", "core.safecrlf=false", "hash-object", "--", name)
		}
	}
	return found
}

// checkTaken takes the state and compares it with the worktree. It returns the skipped paths.
func (w *takes) checkTaken(what string) map[string]string {
	w.t.Helper()
	before, _ := os.ReadFile(w.Path(".git/index"))
	st := w.take()
	after, _ := os.ReadFile(w.Path(".git/index"))
	assert.Equal(w.t, before, after, "%s: the user's index", what)
	skipped := map[string]string{}
	for _, f := range st.Skipped {
		skipped[f.Path] = f.Reason
	}
	want := w.worktree()
	maps.DeleteFunc(want, func(name, _ string) bool {
		return slices.ContainsFunc(st.Skipped, func(f skip) bool {
			return name == f.Path || strings.HasPrefix(name, f.Path) && strings.HasSuffix(f.Path, "/")
		})
	})
	assert.Equal(w.t, want, w.files(st.Tree.String()), what)
	return skipped
}

type skip = checkpoint.Skipped

// TestTakeRandomWorlds takes states after random operations on files, index, branches, ignore rules
// and on the own index, and after saves that were killed or had no time. The state is the worktree each time, and the user's index is not written.
func TestTakeRandomWorlds(t *testing.T) {
	t.Parallel()
	worlds, steps := 16, 25
	if gittest.Torture() {
		worlds = 64
	}
	if testing.Short() {
		worlds, steps = 2, 20
	}
	for world := range worlds {
		seed := uint64(gittest.Day()*1000 + world)
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			w := newTakes(t)
			w.Write("a", "a\n")
			w.Write("d/b", "b\n")
			w.Write("d/c", "c\n")
			w.Git("add", "-A")
			w.Commit("first")
			random := rand.New(rand.NewPCG(seed, 1))
			for step := range steps {
				var done []string
				for range 1 + random.IntN(4) {
					done = append(done, w.step(random))
				}
				w.checkTaken(fmt.Sprintf("seed %d, step %d: %s", seed, step, strings.Join(done, ", ")))
				if t.Failed() {
					return
				}
			}
		})
	}
}

// step does one random operation. An operation that git refuses changes nothing.
func (w *takes) step(random *rand.Rand) string {
	names := []string{"a", "d/b", "d/c", "n", "d/n", "x/y", "x/z", "d", "x", "ig.log", "d/k.log"}
	name := names[random.IntN(len(names))]
	try := func(args ...string) { _, _ = w.Run(nil, args...) }
	switch op := random.IntN(27); op {
	case 0, 1, 2, 3:
		os.RemoveAll(w.Path(name))
		for dir := filepath.Dir(w.Path(name)); dir != w.Dir; dir = filepath.Dir(dir) {
			if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
				os.Remove(dir)
			}
		}
		w.Write(name, fmt.Sprintf("text %d\n", random.IntN(5)))
		return "write " + name
	case 4:
		os.RemoveAll(w.Path(name))
		return "remove " + name
	case 5:
		if info, err := os.Lstat(w.Path(name)); err == nil && info.Mode().IsRegular() {
			os.Chmod(w.Path(name), info.Mode().Perm()^0o111)
		}
		return "chmod " + name
	case 6:
		os.RemoveAll(w.Path(name))
		os.MkdirAll(filepath.Dir(w.Path(name)), 0o777)
		os.Symlink("/etc", w.Path(name))
		return "link " + name
	case 7:
		now := time.Now().Add(-time.Duration(random.IntN(100)) * time.Second)
		os.Chtimes(w.Path(name), now, now)
		return "touch " + name
	case 8:
		if info, err := os.Lstat(w.Path(name)); err == nil && info.Mode().IsRegular() {
			data, _ := os.ReadFile(w.Path(name))
			for i := range data {
				data[i] = byte('A' + random.IntN(26))
			}
			os.WriteFile(w.Path(name), data, 0o666)
		}
		return "edit of equal size " + name
	case 9, 10:
		try("add", "-A", "--", name)
		return "add " + name
	case 11:
		try("add", "-f", "--", name)
		return "add -f " + name
	case 12:
		try("add", "-N", "--", name)
		return "add -N " + name
	case 13:
		try("rm", "-q", "--cached", "-r", "-f", "--", name)
		return "rm --cached " + name
	case 14, 15:
		try("commit", "-q", "-m", "more")
		return "commit"
	case 16:
		branch := []string{"main", "other"}[random.IntN(2)]
		try("branch", branch)
		try("switch", "-q", "-f", branch)
		return "switch " + branch
	case 17:
		try("stash", "-q", "-u")
		if random.IntN(2) == 0 {
			try("stash", "pop", "-q", "--index")
		}
		return "stash"
	case 18: // both branches change the name, or one removes it
		try("reset", "-q", "--hard")
		try("branch", "-f", "side")
		for _, branch := range []string{"side", "-"} {
			try("switch", "-q", branch)
			os.RemoveAll(w.Path(name))
			if info, err := os.Stat(filepath.Dir(w.Path(name))); random.IntN(4) > 0 && (err != nil || info.IsDir()) {
				w.Write(name, fmt.Sprintf("%s %d\n", branch, random.IntN(3)))
			}
			try("add", "-A", "-f", ".")
			try("commit", "-q", "-m", branch)
		}
		try("merge", "-q", "side")
		return "merge " + name
	case 19:
		try("reset", "-q", []string{"--hard", "--mixed"}[random.IntN(2)])
		return "reset"
	case 20:
		rules := []string{"*.log\n", "n\n", "x/\n", ".gitignore\n*.log\n", ""}[random.IntN(5)]
		os.RemoveAll(w.Path(".gitignore"))
		w.Write(".gitignore", rules)
		return "ignore " + rules
	case 21:
		try("config", "core.splitIndex", fmt.Sprint(random.IntN(2) == 0))
		try("update-index", "--refresh", "-q")
		return "split index"
	case 22:
		os.Remove(w.Path(".git/git-checkpoint/index"))
		return "lose the own index"
	case 23, 24:
		return w.killedSave(time.Duration(random.IntN(120)) * time.Millisecond)
	case 25:
		limit := time.Duration(1 + random.IntN(30_000_000))
		w.req.Budget = limit
		_, err := w.try()
		w.req.Budget = 0
		assert.NoError(w.t, err, "a save with the time limit %v", limit)
		return fmt.Sprint("save in ", limit)
	default:
		w.Write(".git/git-checkpoint/index.lock", "")
		return "a lock is left"
	}
}

// killedSave starts a program that saves, and kills it after a time. Its git processes go on.
func (w *takes) killedSave(after time.Duration) string {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	cmd := exec.Command(self)
	cmd.Dir, cmd.Env = w.Dir, append(w.Env(), saveVariable+"=1")
	require.NoError(w.t, cmd.Start())
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err == nil {
		return "save"
	}
	return fmt.Sprint("save killed after ", after)
}
