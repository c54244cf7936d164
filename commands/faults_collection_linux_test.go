//go:build amd64

package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCollectionAtEachCall suspends a save at each system call that changes something. While
// the save is suspended, the user unstages the file, and git deletes unreachable objects. The
// repository is sound afterwards, and a printed id is alive. The day chooses a tenth of the
// calls.
func TestCollectionAtEachCall(t *testing.T) {
	t.Parallel()
	gittest.Slow(t)
	canSupervise(t)
	memory, err := os.MkdirTemp(sharedMemory(t), "git-checkpoint-collection-*")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(memory) })
	collectors := [][]string{{"gc", "-q", "--prune=now"}, {"prune", "--expire=now"}, {"repack", "-adq"}}
	for name, args := range map[string][]string{
		"next":  {"save", "42", "-m", "two"},
		"first": {"save", "43", "-m", "two"},
	} {
		for _, collector := range collectors {
			t.Run(name+"/"+collector[0], func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(memory, name+"-"+collector[0])
				w := newFaultWorld(t, filepath.Join(dir, "template"), refsLoose, "")
				w.tool("save", "42", "-m", "one")
				w.write("a.txt", strings.Repeat(name, 2000))
				w.git("add", ".")
				w.git("write-tree")
				stops, tested := 1000, 0
				for at := 1 + gittest.Day()%10; at <= stops; at += 10 {
					stops = collectAt(t, w, filepath.Join(dir, fmt.Sprint(at)), at, collector, args)
					tested++
				}
				t.Logf("%d of %d calls", tested, stops)
				assert.Greater(t, tested, 2)
			})
		}
	}
}

// collectAt runs a save in a copy of the world, with a collection at one of its calls, and
// returns the number of calls.
func collectAt(t *testing.T, template *faultWorld, dir string, at int, collector, args []string) int {
	w := template.copyTo(t, dir)
	defer os.RemoveAll(dir)
	cmd := w.command("git-checkpoint", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	run := &faultRun{cmd: cmd, inside: w.root, at: at, meanwhile: func() {
		w.try("git", "reset", "-q")
		w.try("git", collector...) // fails if the save holds the lock of a ref
	}}
	require.NoError(t, run.run())
	if run.hit == nil {
		return run.stops
	}
	where := fmt.Sprintf("at call %d of %d, %v: exit %d: %s%s", at, run.stops, run.hit, cmd.ProcessState.ExitCode(), out.String(), errs.String())
	fsck := w.try("git", "fsck", "--no-dangling", "--no-progress")
	assert.Zero(t, fsck.code, "%s: %s", where, fsck.out+fsck.err)
	verify := w.try("git-checkpoint", "verify")
	assert.Zero(t, verify.code, "%s: %s", where, verify.out)
	if id := strings.TrimSpace(out.String()); id != "" {
		show := w.try("git-checkpoint", "show", args[1], id)
		assert.Zero(t, show.code, "%s: %s", where, show.err)
	}
	again := w.try("git-checkpoint", args...)
	assert.Zero(t, again.code, "%s: %s", where, again.err)
	return run.stops
}
