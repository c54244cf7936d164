//go:build amd64

package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// TestFaultAtEachCall stops each writing command at each system call that changes
// something, in the command and in its git processes. Each stop injects a fault, and the
// test checks the result.
//
//   - GIT_CHECKPOINT_TEST_FAULTS=full tests every call, a number n every nth call. The first
//     call differs between commands and days (gittest.Day).
//   - GIT_CHECKPOINT_TEST_FAULT_LIMIT is a duration. After it no further command begins; the
//     test names those that are left. The first command differs between days.
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
	limit, _ := time.ParseDuration(os.Getenv("GIT_CHECKPOINT_TEST_FAULT_LIMIT"))
	begun := time.Now()
	for k := range faultRows {
		i := (k + 4*gittest.Day()) % len(faultRows)
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
				if limit > 0 && time.Since(begun) > limit {
					t.Skipf("not begun within %v; to run it: GIT_CHECKPOINT_TEST_DAY=%d GIT_CHECKPOINT_TEST_FAULTS=%d GIT_CHECKPOINT_TEST_FAULT_ROWS='^%s$' go test -count=1 -timeout 60m -run 'TestFaultAtEachCall$' ./commands", limit, gittest.Day(), every, regexp.QuoteMeta(row.name))
				}
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

// faultPoints are points at which a fault once lost something, blocked the next command or
// left a file. Each is the first call of a command that matches.
var faultPoints = []struct {
	row   string
	form  refsForm
	kind  fault
	point string
}{
	{"save (first)", refsLoose, faultKill, `^rename.* repo/\.git/refs/checkpoints/42\.lock`},
	{"save (later)", refsPacked, faultEIO, `^rename.* repo/\.git/refs/git-checkpoint/own/42\.lock`},
	{"save (retention)", refsLoose, faultSpace, `repo/\.git/objects/`},
	{"save (later)", refsLoose, faultFiles, `^open.* repo/\.git/objects/`},
	{"drop --purge", refsLoose, faultKill, `^rename.* repo/\.git/refs/`},
	{"undo of drop", refsPacked, faultKill, `^rename.* repo/\.git/`},
	{"restore", refsLoose, faultKill, `^rename.* repo/(a\.txt|dir/b\.txt|new\.txt)`},
	{"mirror (save)", refsLoose, faultEIO, `^rename.* repo/\.claude/checkpoints/`},
	{"hooks install", refsLoose, faultKill, `^rename.* repo/\.git/config\.lock`},
	{"fetch", refsLoose, faultKill, `^(open|rename).*\.lock`},
	{"save (later)", refsLoose, faultAlone, `repo/\.git/objects/`},
	{"save (retention)", refsPacked, faultAlone, `repo/\.git/refs/`},
	{"prune", refsLoose, faultAlone, `^rename.* repo/\.git/refs/`},
	{"restore", refsLoose, faultAlone, `repo/dir/b\.txt`},
	{"sync (joins)", refsLoose, faultAlone, `remote\.git/`},
	{"archive (one)", refsLoose, faultKill, `^rename.* repo/\.git/refs/checkpoints/42\.lock`},
	{"undo of archive (one)", refsLoose, faultSpace, `^rename.* repo/\.git/refs/checkpoints-archive/42\.lock`},
	{"undo of drop", refsLoose, faultKill, `^rename.* repo/\.git/refs/git-checkpoint/own/42\.lock`},
}

// TestFaultsOfThePast repeats the faults at faultPoints.
func TestFaultsOfThePast(t *testing.T) {
	t.Parallel()
	canSupervise(t)
	for _, p := range faultPoints {
		t.Run(fmt.Sprintf("%s/%v/%v", p.row, p.form, p.kind), func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(faultRows, func(r faultRow) bool { return r.name == p.row })
			require.GreaterOrEqual(t, i, 0)
			f := &faultTest{row: &faultRows[i], form: p.form, table: &faultTable{}, dir: t.TempDir(), point: regexp.MustCompile(p.point), kind: p.kind, every: 1}
			f.test(t)
		})
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
