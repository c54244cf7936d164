package commands

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// killedAt runs the program under strace and kills it, or the git that it has
// started, at the first of some system calls on a file of the repository. The
// call itself is not done.
func (v *victim) killedAt(file, calls string, args ...string) outcome {
	v.t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		without(v.t, "strace")
	}
	inject := []string{
		"-f", "-o", os.DevNull, "-P", v.path(file), "-e", "trace=" + calls,
		"-e", "inject=" + calls + ":error=EIO:signal=KILL:when=1", "git-checkpoint",
	}
	o := v.try("strace", append(inject, args...)...)
	require.NotZerof(v.t, o.code, "%s was not killed: %s", o.name, o.out)
	return o
}

// refused runs the program, which has to fail with an exit code.
func (v *victim) refused(code int, args ...string) string {
	v.t.Helper()
	o := v.try("git-checkpoint", args...)
	require.Equalf(v.t, code, o.code, "%s: %s", o.name, o.err)
	return o.err
}

// straceVictim is a repository with some checkpoints of issue 42, oldest first.
func straceVictim(t *testing.T, checkpoints int) (v *victim, ids []string) {
	t.Helper()
	v = newVictim(t)
	for range checkpoints {
		ids = append(ids, v.tool("save", "42"))
	}
	return v, ids
}

// An undo that was killed before its ref moved has an entry in the reflog. It is
// done again as though it had not been begun.
func TestUndoKilledBeforeItsMove(t *testing.T) {
	t.Parallel()
	for _, remove := range [][]string{{"drop", "42", "latest~1", "--yes"}, {"prune", "42", "--keep", "manual=1"}} {
		v, ids := straceVictim(t, 3)
		slices.Reverse(ids)
		v.tool(remove...)
		v.killedAt(".git/refs/checkpoints/42", "renameat", "undo", "42")
		require.NotEqual(t, ids, v.ids("42"))
		v.next("undo", "42")
		require.Equal(t, ids, v.ids("42"))
		require.Contains(t, v.refused(exitFailure, "undo", "42"), "nothing to undo")
		v.sound()
	}
}
