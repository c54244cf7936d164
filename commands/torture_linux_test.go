package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/testing/gittest"
)

// The torture tests check the guarantees of package gitstore with the real program and
// the real git. They use concurrent processes, kills, full disks and power losses.
// GIT_CHECKPOINT_TEST_TORTURE=full runs the full number of rounds. By default, 4% of them
// are run.

// dose returns the number of rounds, where n is the number in a full run.
func dose(n int) int {
	if gittest.Torture() {
		return n
	}
	return (n + 24) / 25
}

// without skips a test if this machine lacks a requirement. In CI it fails the test.
func without(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("this test needs %s", what)
	}
	t.Skipf("this test needs %s", what)
}

// needs skips a test like without if a program is missing.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		without(t, program)
	}
}

// A victim is a repository for torture tests.
type victim struct {
	t   *testing.T
	dir string
	env []string
}

// newVictim creates a repository with a commit and a staged change.
func newVictim(t *testing.T) *victim {
	t.Helper()
	v := victimAt(t, t.TempDir())
	v.write("a.txt", "one\n")
	v.write("dir/b.txt", "one\n")
	v.git("add", ".")
	v.git("commit", "-qm", "first")
	v.write("a.txt", "two\n")
	v.git("add", ".")
	return v
}

// victimAt creates an empty repository in a directory.
func victimAt(t *testing.T, dir string) *victim {
	t.Helper()
	v := &victim{t: t, dir: filepath.Join(dir, "repo"), env: tortureEnv(dir)}
	require.NoError(t, os.MkdirAll(v.dir, 0o777))
	v.git("init", "-q", "--template=", "-b", "main")
	v.git("config", "gc.auto", "0")
	return v
}

// durable makes the programs of a victim sync to the disk, for tests of durability.
func (v *victim) durable() *victim {
	v.env = append(v.env, "GITTEST_SYNC=on")
	return v
}

// tortureEnv returns an environment without variables that affect git or the program.
func tortureEnv(home string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(key, "GIT_") || key == "HOME" || key == "XDG_CONFIG_HOME" || key == "CI"
	})
	return append(env, "HOME="+home, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_DEFAULT_HASH="+gitstore.ObjectFormat, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ann Author", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann Author", "GIT_COMMITTER_EMAIL=ann@example.com")
}

// copy returns a deep copy of a victim.
func (v *victim) copy(t *testing.T) *victim {
	t.Helper()
	c := &victim{t: t, dir: filepath.Join(t.TempDir(), "repo"), env: v.env}
	require.NoError(t, copyTree(v.dir, c.dir))
	return c
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		switch d.Type() {
		case fs.ModeDir:
			return os.MkdirAll(target, 0o777)
		case fs.ModeSymlink:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
}

func (v *victim) path(name string) string { return filepath.Join(v.dir, filepath.FromSlash(name)) }

func (v *victim) write(name, text string) {
	v.t.Helper()
	require.NoError(v.t, os.MkdirAll(filepath.Dir(v.path(name)), 0o777))
	require.NoError(v.t, os.WriteFile(v.path(name), []byte(text), 0o666))
}

// An outcome records a command's output, exit code and duration.
type outcome struct {
	name     string
	out, err string
	code     int
	took     time.Duration
}

// command returns a command in the repository: git, or git-checkpoint, which is this test
// binary under another name.
func (v *victim) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = v.dir, v.env
	return cmd
}

// try runs a program that may fail. It can be called from any goroutine.
func (v *victim) try(name string, args ...string) outcome {
	return outcomeOf(v.command(name, args...))
}

func outcomeOf(cmd *exec.Cmd) outcome {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	o := outcome{
		name: strings.Join(cmd.Args, " "), out: strings.TrimSpace(out.String()), err: strings.TrimSpace(errs.String()),
		code: -1, took: time.Since(start),
	}
	if cmd.ProcessState != nil {
		o.code = cmd.ProcessState.ExitCode()
	} else {
		o.err = err.Error()
	}
	return o
}

// must runs a program that has to succeed, and returns its output.
func (v *victim) must(name string, args ...string) string {
	v.t.Helper()
	o := v.try(name, args...)
	require.Zerof(v.t, o.code, "%s: exit %d: %s", o.name, o.code, o.err)
	return o.out
}

func (v *victim) git(args ...string) string  { v.t.Helper(); return v.must("git", args...) }
func (v *victim) tool(args ...string) string { v.t.Helper(); return v.must("git-checkpoint", args...) }

// ids returns the checkpoints of an issue, newest first.
func (v *victim) ids(issue string) []string {
	v.t.Helper()
	o := v.try("git-checkpoint", "list", issue, "--json")
	if o.code == failure.None {
		return nil
	}
	require.Zerof(v.t, o.code, "%s: %s", o.name, o.err)
	var list struct {
		Checkpoints []struct {
			ID    string `json:"checkpoint_id"`
			Valid bool   `json:"valid"`
		} `json:"checkpoints"`
	}
	require.NoError(v.t, json.Unmarshal([]byte(o.out), &list))
	var ids []string
	for _, c := range list.Checkpoints {
		require.Truef(v.t, c.Valid, "%s is not valid", c.ID)
		ids = append(ids, c.ID)
	}
	return ids
}

// sound fails unless verify and git fsck report no problem.
func (v *victim) sound() {
	v.t.Helper()
	v.tool("verify")
	v.fsck()
}

func (v *victim) fsck() {
	v.t.Helper()
	o := v.try("git", "fsck", "--full", "--no-dangling", "--no-progress")
	require.Zerof(v.t, o.code, "fsck: %s %s", o.out, o.err)
	require.Emptyf(v.t, o.out+o.err, "fsck")
}

// holds fails unless an issue has exactly the given checkpoints.
func (v *victim) holds(issue string, want map[string]bool) {
	v.t.Helper()
	got := v.ids(issue)
	slices.Sort(got)
	require.Equal(v.t, slices.Sorted(maps.Keys(want)), got)
}

// locks returns the lock files in the repository, without those that were set aside.
func (v *victim) locks() []string {
	var locks []string
	_ = filepath.WalkDir(v.path(".git"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") && d.Name() != "restore.lock" && filepath.Base(filepath.Dir(path)) != "broken" {
			locks = append(locks, path)
		}
		return nil
	})
	return locks
}

// later makes lock files as old as those of a git that was killed two minutes ago. A git that still
// runs holds the lock of the issue, too. Locks of all refs are removed, as a person has to do.
func (v *victim) later() {
	then := time.Now().Add(-2 * time.Minute)
	for _, lock := range append(v.locks(), v.path(".git/packed-refs.new")) {
		if name := filepath.Base(lock); strings.HasPrefix(name, "packed-refs.") || filepath.Base(filepath.Dir(lock)) == "reftable" {
			_ = os.Remove(lock)
		} else {
			_ = os.Chtimes(lock, then, then) // git may have removed it
		}
	}
}

// state returns every file of the repository, worktree and git directory, with its kind,
// permissions, date and content. Files for which leave returns true are left out.
func (v *victim) state(leave func(name string) bool) map[string]string {
	v.t.Helper()
	state := map[string]string{}
	require.NoError(v.t, filepath.WalkDir(v.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(v.dir, path)
		if leave != nil && leave(name) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			content = string(data)
		}
		state[name] = fmt.Sprintf("%s %d %q", info.Mode(), info.ModTime().UnixNano(), content)
		return err
	}))
	return state
}
