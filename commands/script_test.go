package commands

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"git-checkpoint": func() { os.Exit(Main(os.Args)) },
	})
}

// TestScripts runs every script below testdata/script through the real binary
// and the real git: `exec git checkpoint ...`.
func TestScripts(t *testing.T) {
	dir := filepath.Join("..", "testdata", "script")
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no scripts found")
	testscript.Run(t, testscript.Params{
		Files:         files,
		UpdateScripts: *update,
		Setup:         scriptEnv,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"rc":   cmdRC,
			"repo": cmdRepo,
			"id":   cmdID,
		},
	})
}

// scriptEnv gives every script a home of its own, a fixed identity and clock,
// and none of the variables that a hook would leave behind.
func scriptEnv(e *testscript.Env) error {
	e.Vars = append(e.Vars,
		"HOME="+e.WorkDir, "XDG_CONFIG_HOME="+e.WorkDir+"/.config",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+e.WorkDir,
		"GIT_AUTHOR_NAME=Ann Author", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann Author", "GIT_COMMITTER_EMAIL=ann@example.com",
		"GIT_AUTHOR_DATE=2026-02-14T14:00:00Z", "GIT_COMMITTER_DATE=2026-02-14T14:00:00Z",
		"GIT_CHECKPOINT_NOW=2026-02-14T14:30:00Z", "TZ=UTC", "LC_ALL=C", "CI=",
	)
	return nil
}

// cmdRC runs a command and compares its exit code: rc 3 git checkpoint list.
func cmdRC(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: rc code command [argument...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		code = -1
		if exit, ok := err.(*exec.ExitError); ok {
			code = exit.ExitCode()
		}
	}
	if got := fmt.Sprint(code); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// cmdRepo makes a repository with one commit in a directory and goes there.
func cmdRepo(ts *testscript.TestScript, _ bool, args []string) {
	dir := "repo"
	if len(args) > 0 {
		dir = args[0]
	}
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main", dir))
	ts.Check(ts.Chdir(ts.MkAbs(dir)))
	ts.Check(os.WriteFile(ts.MkAbs("a.txt"), []byte("one\n"), 0o666))
	ts.Check(ts.Exec("git", "add", "."))
	ts.Check(ts.Exec("git", "commit", "-qm", "first"))
}

// cmdID puts the id that the last command printed into a variable: id FIRST.
func cmdID(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: id variable")
	}
	lines := strings.Fields(ts.ReadFile("stdout"))
	if len(lines) == 0 {
		ts.Fatalf("nothing was printed")
	}
	ts.Setenv(args[0], lines[len(lines)-1])
}
