//go:build amd64

package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaultAtEachCall stops each writing command at each system call that changes
// something, in the command and in its git processes. Each stop injects a fault, and the
// test checks the result.
//
//   - GIT_CHECKPOINT_TEST_FAULTS=full tests every call, a number n every nth call. The first
//     call differs between commands.
//   - GIT_CHECKPOINT_TEST_FAULT_ROWS is a regular expression for names in faultRows.
//   - GIT_CHECKPOINT_TEST_FAULT_TABLE is the output file for the table of the run.
func TestFaultAtEachCall(t *testing.T) {
	every, _ := strconv.Atoi(strings.Replace(os.Getenv("GIT_CHECKPOINT_TEST_FAULTS"), "full", "1", 1))
	if every <= 0 {
		t.Skip("GIT_CHECKPOINT_TEST_FAULTS is neither full nor a number")
	}
	t.Parallel()
	canSupervise(t)
	memory, err := os.MkdirTemp(sharedMemory(t), "git-checkpoint-faults-*")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(memory) })
	git2 := gitWithReftable(t)
	table := &faultTable{}
	t.Cleanup(func() { table.write(t) })
	only := os.Getenv("GIT_CHECKPOINT_TEST_FAULT_ROWS")
	for i := range faultRows {
		row := &faultRows[i]
		if ok, _ := regexp.MatchString(only, row.name); !ok {
			continue
		}
		for form := range refsForms {
			if form == refsTable && git2 == "" || row.form != nil && !row.form[form] {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v", row.name, form), func(t *testing.T) {
				t.Parallel()
				f := &faultTest{row: row, form: form, table: table, dir: filepath.Join(memory, fmt.Sprintf("%d-%v", i, form)), every: every, first: i}
				if form == refsTable {
					f.git2 = git2
				}
				f.test(t)
				_ = os.RemoveAll(f.dir)
			})
		}
	}
}

func sharedMemory(t *testing.T) string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return t.TempDir()
}

// gitWithReftable returns the directory of a git with reftables. It returns "" if that
// git is on PATH or does not exist.
func gitWithReftable(t *testing.T) string {
	cached := "/tmp/git-checkpoint-git-trixie/bin"
	for _, dir := range []string{filepath.Dir(must(exec.LookPath("git"))), cached} {
		cmd := exec.Command(filepath.Join(dir, "git"), "init", "-q", "--ref-format=reftable", t.TempDir())
		if cmd.Run() == nil {
			return dir
		}
	}
	t.Log("no reftable: neither git nor " + cached + "/git has it (git 2.45 has)")
	return ""
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
