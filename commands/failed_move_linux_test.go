package commands

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// If a ref directory's sync fails, refs have moved already. The error then reports a
// completed change and a new checkpoint's id.
func TestFailureAfterTheMove(t *testing.T) {
	t.Parallel()
	gittest.Slow(t)
	needs(t, "strace")
	for _, args := range [][]string{
		{"save", "42"},
		{"save", "99"},
		{"save", "42", "--trigger", "batch_complete"},
		{"pin", "42", "latest~1"},
		{"archive", "42", "latest~1"},
		{"drop", "42", "latest~1", "--yes"},
		{"prune", "42", "--keep", "batch_complete=1"},
		{"fetch", "7", "--remote", "../up"},
		{"sync", "7", "--yes", "--remote", "../up"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			v := newVictim(t).durable()
			v.git("init", "-q", "--bare", "../up")
			v.git("remote", "add", "up", "../up")
			other := v.copy(t)
			other.tool("save", "7")
			other.git("push", "-q", v.path("../up"), "refs/checkpoints/7")
			v.tool("save", "42")
			for range 3 {
				v.tool("save", "42", "--trigger", "batch_complete")
			}
			before := v.everywhere()
			o := v.unsyncedRefs(args...)
			require.Equalf(t, failure.Failure, o.code, "%s", o.err)
			require.Contains(t, o.err, "input/output error")
			require.NotContains(t, o.out, "CP-")
			now := v.everywhere()
			if args[0] != "save" {
				require.Contains(t, o.err, "the change is made, but: sync ")
			} else {
				id, _, found := strings.Cut(strings.TrimPrefix(o.err, "git-checkpoint: save issue "+args[1]+": "), " is in the chain, but: sync ")
				require.True(t, found, o.err)
				require.True(t, now[id], o.err)
				require.False(t, before[id])
			}
			v.sound()
		})
	}
}

// unsyncedRefs runs the program with EIO for each sync of a ref directory.
func (v *victim) unsyncedRefs(args ...string) outcome {
	trace := []string{"-f", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:error=EIO"}
	for _, dir := range []string{"checkpoints", "checkpoints-archive", "git-checkpoint/own", "git-checkpoint/remote", "git-checkpoint/remote/up"} {
		trace = append(trace, "-P", v.path(".git/refs/"+dir))
	}
	return v.try("strace", append(append(trace, "git-checkpoint"), args...)...)
}
