package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// killTree kills a process and all its descendants, as at the end of a container.
func killTree(cmd *exec.Cmd) {
	pid := cmd.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGSTOP) // so that it starts no further process
	for _, child := range children(pid) {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// children returns all descendants of a process.
func children(pid int) []int {
	var all []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		data, _ := os.ReadFile(task)
		for _, field := range strings.Fields(string(data)) {
			var child int
			if _, err := fmt.Sscan(field, &child); err == nil {
				all = append(append(all, child), children(child)...)
			}
		}
	}
	return all
}

// next fails unless a command succeeds without a wait: the old lock of a dead process neither
// blocks nor delays it.
func (v *victim) next(args ...string) string {
	v.t.Helper()
	o := v.try("git-checkpoint", args...)
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
