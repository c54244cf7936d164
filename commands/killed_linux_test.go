package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"git-checkpoint/gitstore/failure"

	"github.com/stretchr/testify/require"
)

// killedAt runs the program under strace. It kills the program or its git at the first of
// some system calls on a file of the repository, before the call.
func (v *victim) killedAt(file, calls string, args ...string) outcome {
	v.t.Helper()
	needs(v.t, "strace")
	log := filepath.Join(v.t.TempDir(), "trace")
	inject := []string{
		"-f", "-o", log, "-P", v.path(file), "-e", "trace=" + calls,
		"-e", "inject=" + calls + ":error=EIO:signal=KILL:when=1", "git-checkpoint",
	}
	o := v.try("strace", append(inject, args...)...)
	trace, err := os.ReadFile(log)
	require.NoError(v.t, err)
	require.Containsf(v.t, string(trace), "+++ killed by SIGKILL +++", "%s: %s", o.name, o.out)
	return o
}

// refused runs the program and requires failure with an exit code.
func (v *victim) refused(code int, args ...string) string {
	v.t.Helper()
	o := v.try("git-checkpoint", args...)
	require.Equalf(v.t, code, o.code, "%s: %s", o.name, o.err)
	return o.err
}

// straceVictim returns a repository with checkpoints of issue 42, oldest first.
func straceVictim(t *testing.T, checkpoints int) (v *victim, ids []string) {
	t.Helper()
	v = newVictim(t)
	for range checkpoints {
		ids = append(ids, v.tool("save", "42"))
	}
	return v, ids
}

// An undo that was killed before its ref moved has left a reflog entry. A second undo
// works as if the first had not started.
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
		require.Contains(t, v.refused(failure.Failure, "undo", "42"), "nothing to undo")
		v.sound()
	}
}

// killedTreeAt runs the program under strace until its git is at such a call on a file
// that git has created. It then kills the program and git, as at the end of a container.
func (v *victim) killedTreeAt(file, calls string, args ...string) {
	v.t.Helper()
	needs(v.t, "strace")
	cmd := v.command("strace", append([]string{
		"-f", "-o", os.DevNull, "-P", v.path(file), "-e", "trace=" + calls,
		"-e", "inject=" + calls + ":delay_enter=600000000:when=1", "git-checkpoint",
	}, args...)...)
	require.NoError(v.t, cmd.Start())
	require.Eventually(v.t, func() bool {
		_, err := os.Stat(v.path(file))
		return err == nil
	}, patience, time.Millisecond, "%v", cmd.Args)
	time.Sleep(50 * time.Millisecond)
	require.FileExists(v.t, v.path(file), "%v", cmd.Args)
	kill(cmd, killTree)
	require.Error(v.t, cmd.Wait())
}

// Empty or partial locks of killed git processes never block later commands. Git is
// killed alone, or with the program.
func TestLocksOfKilledGit(t *testing.T) {
	t.Parallel()
	hook := func(v *victim) {
		v.write(".git/hooks/reference-transaction", "#!/bin/sh\n")
		require.NoError(v.t, os.Chmod(v.path(".git/hooks/reference-transaction"), 0o777))
	}
	none := func(*victim) {}
	restored := func(v *victim) {
		v.git("reset", "-q", "--hard")
		v.tool("restore", "42")
	}
	packed := func(v *victim) {
		restored(v)
		v.git("pack-refs", "--all")
	}
	for name, c := range map[string]struct {
		setup func(v *victim)
		file  string
		calls string
		args  []string
	}{
		"first save":         {none, "refs/checkpoints/NEW-1.lock", "write", []string{"save", "NEW-1"}},
		"own ref":            {none, "refs/git-checkpoint/own/NEW-1.lock", "write", []string{"save", "NEW-1"}},
		"first archive":      {none, "refs/checkpoints-archive/42.lock", "write", []string{"archive", "42", "latest~1"}},
		"hook":               {hook, "refs/checkpoints/42.lock", "write", []string{"save", "42"}},
		"undo with a hook":   {hook, "refs/checkpoints/42.lock", "write", []string{"undo", "42"}},
		"drop with a hook":   {hook, "refs/checkpoints/42.lock", "close", []string{"drop", "42", "latest", "--yes"}},
		"before the rename":  {none, "refs/checkpoints-archive/42.lock", "rename", []string{"archive", "42", "latest~1"}},
		"second of several":  {none, "refs/checkpoints/42.lock", "rename", []string{"archive", "42", "latest~1"}},
		"purge, reflog":      {none, "logs/refs/checkpoints/42.lock", "write,close", []string{"drop", "42", "latest", "--purge", "--yes"}},
		"purge, packed refs": {packed, "packed-refs.new", "write,close", []string{"drop", "42", "latest", "--purge", "--yes"}},
	} {
		for who, die := range map[string]func(v *victim, file, calls string, args ...string){
			"git": func(v *victim, file, calls string, args ...string) { v.killedAt(file, calls, args...) },
			"all": (*victim).killedTreeAt,
		} {
			t.Run(name+"/"+who, func(t *testing.T) {
				t.Parallel()
				v, _ := straceVictim(t, 4)
				c.setup(v)
				if c.args[0] == "undo" {
					v.tool("drop", "42", "latest~2", "--yes")
				}
				before := v.ids("42")
				die(v, ".git/"+c.file, c.calls, c.args...)
				t.Log(v.locks())
				v.next("save", "42")
				v.next("verify")
				if c.args[0] == "save" {
					v.next(c.args...)
					require.Subset(t, v.ids("42"), before)
				}
				v.git("pack-refs", "--all")
				require.Empty(t, v.locks())
				require.NoFileExists(t, v.path(".git/packed-refs.new"))
				v.sound()
			})
		}
	}
}

// archivedIDs returns the archived checkpoints of an issue, newest first.
func (v *victim) archivedIDs(issue string) []string {
	v.t.Helper()
	o := v.try("git-checkpoint", "list", issue, "--archived", "--json")
	var list struct {
		Checkpoints []struct {
			ID string `json:"checkpoint_id"`
		} `json:"checkpoints"`
	}
	if o.code != failure.None {
		require.Zerof(v.t, o.code, "%s: %s", o.name, o.err)
		require.NoError(v.t, json.Unmarshal([]byte(o.out), &list))
	}
	var ids []string
	for _, c := range list.Checkpoints {
		ids = append(ids, c.ID)
	}
	return ids
}

// A command that moves a chain and its archive is killed between any two of its renames.
// Every reader then sees either the complete result or the old state. A repeated command
// completes it exactly once.
func TestInterruptedTransaction(t *testing.T) {
	t.Parallel()
	template, ids := straceVictim(t, 5)
	template.tool("archive", "42", ids[0])
	template.tool("archive", "42", ids[1])
	drop := []string{"drop", "42", ids[1], "--yes"}
	for name, c := range map[string]struct{ before, args []string }{
		"archive":         {nil, []string{"archive", "42", ids[2]}},
		"drop":            {nil, drop},
		"undo of archive": {[]string{"archive", "42", ids[2]}, []string{"undo", "42"}},
		"undo of drop":    {drop, []string{"undo", "42"}},
		"undo of prune":   {[]string{"prune", "42", "--keep", "manual=1"}, []string{"undo", "42"}},
	} {
		for _, ref := range []string{"checkpoints/42", "checkpoints-archive/42", "git-checkpoint/own/42"} {
			t.Run(name+" at "+ref, func(t *testing.T) {
				t.Parallel()
				v := template.copy(t)
				if c.before != nil {
					v.tool(c.before...)
				}
				before := [][]string{v.ids("42"), v.archivedIDs("42")}
				whole := v.copy(t)
				whole.tool(c.args...)
				after := [][]string{whole.ids("42"), whole.archivedIDs("42")}
				if ref == "checkpoints-archive/42" && slices.Equal(before[1], after[1]) {
					return // this ref does not move
				}
				v.killedAt(".git/refs/"+ref, "renameat", c.args...)
				v.next("verify", "42")
				have := [][]string{v.ids("42"), v.archivedIDs("42")}
				require.Contains(t, [][][]string{before, after}, have)
				if c.args[0] == "undo" || slices.EqualFunc(have, before, slices.Equal) {
					v.next(c.args...)
				}
				require.Equal(t, after, [][]string{v.ids("42"), v.archivedIDs("42")})
				v.sound()
				require.Empty(t, v.locks())
			})
		}
	}
}
