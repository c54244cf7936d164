package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// next fails unless a command succeeds without a wait: the lock of a dead process neither
// blocks nor delays it.
func (v *victim) next(args ...string) string {
	v.t.Helper()
	o := v.try("git-checkpoint", args...)
	if pid := gittest.UnseenGit(); pid != "" && (o.code != 0 || o.took > lockWait) {
		v.t.Skipf("git process %s of another user may hold the locks: %v", pid, v.locks())
	}
	require.Zerof(v.t, o.code, "%s: exit %d: %s\nlocks: %v", o.name, o.code, o.err, v.locks())
	require.Falsef(v.t, v.waited(o), "%s waited: it took %v", o.name, o.took)
	return o.out
}

// lockWait is the time for which commands, and the git processes that they start, try to get a
// lock.
const lockWait = 10 * time.Second

// waited reports whether a command has waited for a lock, which takes it at least lockWait. On
// a busy machine, a command without a wait can take as long. Therefore a command that takes no
// lock runs too, and waited returns false if this command is slow.
func (v *victim) waited(o outcome) bool {
	return o.took > lockWait && v.try("git-checkpoint", "version").took < lockWait/20
}

// objects returns the number of files in the object store.
func (v *victim) objects() int {
	files, _ := filepath.Glob(v.path(".git/objects/*/*"))
	return len(files)
}

// A save that is killed at any time is either in the chain or absent. If it printed its
// id, it is in the chain. Its locks do not block other saves.
func TestTortureKillSave(t *testing.T) {
	gittest.Slow(t)
	t.Parallel()
	k := newKiller(t, dose(500))
	var v *victim
	var printed map[string]bool
	for i := range k.rounds() {
		if i%50 == 0 {
			v, printed = newVictim(t), map[string]bool{}
			printed[v.tool("save", "42")] = true
		}
		tip, objects := v.git("rev-parse", "refs/checkpoints/42"), v.objects()
		d := k.run(v, i, "save", "42", "-m", fmt.Sprintf("round %d", i))
		if d.out != "" {
			printed[d.out] = true
		}
		moved := v.git("rev-parse", "refs/checkpoints/42") != tip
		switch {
		case !d.killed():
			k.reached["ended"]++
		case d.out != "":
			k.reached["id printed"]++
		case moved:
			k.reached["ref moved"]++
		case v.objects() != objects:
			k.reached["objects"]++
		case d.wrote:
			k.reached["first write"]++
		default:
			k.reached["start"]++
		}
		printed[v.next("save", "42")] = true
		have := v.ids("42")
		for id := range printed {
			require.Contains(t, have, id)
		}
		require.Empty(t, v.locks())
		if i%4 == 0 { // sometimes, because damage persists
			v.write("a.txt", fmt.Sprintf("round %d\n", i))
			v.git("add", "a.txt")
			v.sound()
		}
	}
	v.sound()
	k.report()
}

// A killed prune has dropped either all checkpoints of its plan or no checkpoint.
func TestTortureKillPrune(t *testing.T) {
	gittest.Slow(t)
	t.Parallel()
	k := newKiller(t, dose(500))
	template := newVictim(t)
	for range 6 {
		template.tool("save", "42", "--trigger", "batch_complete", "--no-prune")
	}
	for range 10 {
		template.tool("save", "42", "--no-prune")
	}
	template.git("gc", "-q")
	before := template.ids("42")
	require.Len(t, before, 16)
	whole := template.copy(t)
	whole.tool("prune", "42")
	after := whole.ids("42")
	require.Len(t, after, 13)
	for i := range k.rounds() {
		v := template.copy(t)
		objects := v.objects()
		d := k.run(v, i, "prune", "42")
		have := v.ids("42")
		switch {
		case !d.killed():
			k.reached["ended"]++
		case len(have) == len(after):
			k.reached["ref moved"]++
		case v.objects() != objects:
			k.reached["objects"]++
		case d.wrote:
			k.reached["first write"]++
		default:
			k.reached["start"]++
		}
		if len(have) == len(after) {
			assert.Equal(t, after, have)
		} else {
			require.Equal(t, before, have)
		}
		v.tool("verify", "42")
		v.fsck()
		v.next("prune", "42")
		require.Empty(t, v.locks())
		require.NoError(t, os.RemoveAll(v.dir))
	}
	k.report()
}

// A restore that is killed at any time leaves every file complete, with the old or the
// new content. It can be continued, aborted, or followed by any other command.
func TestTortureKillRestore(t *testing.T) {
	gittest.Slow(t)
	t.Parallel()
	k := newKiller(t, dose(500))
	template, before, after := restoreTemplate(t)
	for i := range k.rounds() {
		v := template.copy(t)
		objects := v.objects()
		d := k.run(v, i, "restore", "42")
		have := v.files()
		stage := restoreStage(v, d, have, before, after)
		if stage == "first write" && v.objects() != objects {
			stage = "objects"
		}
		k.reached[stage]++
		for name := range union(before, after) {
			require.Containsf(t, []string{before[name], after[name]}, have[name], "%s is neither as it was nor as it will be", name)
		}
		if fmt.Sprint(have) != fmt.Sprint(before) && fmt.Sprint(have) != fmt.Sprint(after) {
			require.True(t, v.pending(), "some files are changed, and nothing tells how to go on")
		}
		v.recover(i, stage, before, after)
		v.sound()
		require.Emptyf(t, v.locks(), "after %s", stage)
		v.git("add", "-A")
		v.git("commit", "-q", "--allow-empty", "-m", "work goes on")
		require.NoError(t, os.RemoveAll(v.dir))
	}
	k.report()
}

// restoreTemplate returns a repository whose newest checkpoint changes, replaces, removes
// and adds files. It also returns the files before and after a restore.
func restoreTemplate(t *testing.T) (template *victim, before, after map[string]string) {
	v := newVictim(t)
	for i := range 12 {
		v.write(fmt.Sprintf("src/%d.txt", i), fmt.Sprintf("old %d\n", i))
	}
	v.git("add", "-A")
	v.git("commit", "-qm", "second")
	before = v.files()
	for i := range 8 {
		v.write(fmt.Sprintf("src/%d.txt", i), strings.Repeat(fmt.Sprintf("new %d\n", i), 200))
	}
	v.git("rm", "-q", "src/9.txt")
	v.write("new/a/b.txt", "new\n")
	require.NoError(t, os.Remove(v.path("src/8.txt")))
	require.NoError(t, os.Symlink("0.txt", v.path("src/8.txt")))
	v.git("add", "-A")
	after = v.files()
	v.tool("save", "42")
	v.git("reset", "-q", "--hard")
	v.git("gc", "-q")
	return v, before, after
}

// files returns the contents of the worktree's files by path.
func (v *victim) files() map[string]string {
	v.t.Helper()
	files := map[string]string{}
	require.NoError(v.t, filepath.WalkDir(v.dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		name, _ := filepath.Rel(v.dir, path)
		if d.Type()&os.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			files[name] = "-> " + target
			return err
		}
		data, err := os.ReadFile(path)
		files[name] = string(data)
		return err
	}))
	return files
}

func union(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for _, m := range []map[string]string{a, b} {
		for name := range m {
			all[name] = true
		}
	}
	return all
}

// operations lists the operations with their states.
var operations = []string{"for-each-ref", "--format=%(subject)", "refs/git-checkpoint/operations"}

// pending reports whether an operation is pending.
func (v *victim) pending() bool { return strings.Contains(v.git(operations...), ": pending") }

// restoreStage returns the stage that a killed restore reached.
func restoreStage(v *victim, d death, have, before, after map[string]string) string {
	pending := v.pending()
	changed := fmt.Sprint(have) != fmt.Sprint(before)
	switch {
	case !d.killed():
		return "ended"
	case pending && changed && fmt.Sprint(have) != fmt.Sprint(after):
		return "some files"
	case pending && changed:
		return "all files"
	case pending:
		return "entry"
	case changed:
		return "done"
	case d.wrote:
		return "first write"
	}
	return "start"
}

// recover continues after a kill, in one of the possible ways.
func (v *victim) recover(i int, stage string, before, after map[string]string) {
	v.t.Helper()
	want, pending := after, v.pending()
	switch {
	case pending && i%4 == 0:
		v.next("restore", "--continue")
	case pending && i%4 == 1:
		v.next("restore", "--abort")
		want = before
	case pending && i%4 == 2:
		v.next("save", "42")
		v.next("restore", "42", "latest~1")
	default:
		v.next("restore", "42")
	}
	require.Equalf(v.t, want, v.files(), "after %s", stage)
}
