package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"git-checkpoint/gitstore/failure"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// stale lists the reasons for which a checkpoint becomes stale: the change, as a script,
// and the exact finding. The order is that of the checks.
var stale = []struct {
	name   string
	save   string // arguments of the save
	change string // lines of the script
	check  string
	text   string // text of the finding
	action string
}{
	{
		"labels", "", `exec sed -i s/type:feature/type:bug/ .checkpoint/issues/42.yaml`,
		"labels", "Issue labels changed since checkpoint", "proceed_with_warning",
	},
	{
		"body", "", `exec sed -i s/expire/rotate/ .checkpoint/issues/42.yaml`,
		"body", "Issue body modified since checkpoint", "prompt_user",
	},
	{
		"branch", "", "exec git checkout -q --detach\nexec git branch -q -D feature/42",
		"branch", "Branch no longer exists", "start_fresh",
	},
	{
		"head", "", "exec git reset -q --soft HEAD~1",
		"head", "HEAD <commit> does not descend from the checkpoint's <commit>", "prompt_user",
	},
	{
		"files", "", "exec git update-ref -d refs/git-checkpoint/here/_main/42\ncp $WORK/three a.txt\nexec git add a.txt", // as in another clone
		"files", "1 file changed since checkpoint: a.txt", "prompt_user",
	},
	{
		"outputs", "", "exec rm out.md",
		"outputs", "Output out.md is missing", "prompt_user",
	},
	{
		"age", "", "env GIT_CHECKPOINT_NOW=2026-02-22T14:30:00Z",
		"time", "Checkpoint is older than 7 days: 2026-02-14T14:30:00.000000Z", "proceed_with_warning",
	},
	{
		"approval", "--set progress.awaiting_approval=docs", "",
		"approval", "Approval of phase docs is pending", "prompt_user",
	},
	{
		"closed", "", "exec sed -i s/open/closed/ .checkpoint/issues/42.yaml",
		"issue", "Issue is closed", "proceed_with_warning",
	},
}

// severity ranks the actions and maps them to the exit code of resume.
var severity = map[string]struct {
	rank, code int
	word       string
}{
	"resume": {0, 0, "note"}, "proceed_with_warning": {1, 0, "warning"},
	"prompt_user": {2, 5, "question"}, "start_fresh": {3, 4, "error"},
}

// world returns a script that saves a checkpoint, applies some of the changes, and
// compares the verdict.
func world(ways ...int) string {
	save, changes, action := "", "", "resume"
	var finds []string
	for _, n := range ways {
		w := stale[n]
		save += " " + w.save
		changes += w.change + "\n"
		if severity[w.action].rank > severity[action].rank {
			action = w.action
		}
		finds = append(finds, fmt.Sprintf(`{"check":"%s","severity":"%s","message":"%s"}`, w.check, severity[w.action].word, w.text))
	}
	reasons := strings.ReplaceAll(regexp.QuoteMeta("["+strings.Join(finds, ",")+"]"), "<commit>", "[0-9a-f]{12}")
	code := severity[action].code
	strict := code
	if action == "proceed_with_warning" {
		strict = failure.Stale
	}
	return fmt.Sprintf(`repo
mkdir .checkpoint/issues
cp $WORK/issue .checkpoint/issues/42.yaml
cp $WORK/three out.md
exec git checkout -q -b feature/42
cp $WORK/two b.txt
exec git add b.txt
exec git commit -q -m work
cp $WORK/two a.txt
exec git add a.txt
exec git checkpoint save 42 --staged --phase implementing --set agent_outputs.dev.spec.output_location=out.md%s
%sexec git checkpoint status 42 --json
field stdout action %s
stdout '"reasons":%s,'
rc %d git checkpoint status 42 --check
rc %d git checkpoint status 42 --check --strict
rc %d git checkpoint resume 42 --json
field stdout action %s
stdout '"reasons":%s,'
rc %d git checkpoint resume 42 --strict --dry-run
exec git status --porcelain -uno
cp stdout $WORK/before
rc %d git checkpoint resume 42 --strict --print env
stdout '^CHECKPOINT_ACTION=%s$'
exec git status --porcelain -uno
cmp stdout $WORK/before

-- issue --
title: Refresh tokens
body: "Tokens expire."
labels: [state:implementing, type:feature]
state: open
-- two --
two
-- three --
three
`, save, changes, action, quotes(reasons), code, strict, code, action, quotes(reasons), strict, strict, action)
}

// quotes escapes a text for single quotes in a script.
func quotes(s string) string { return strings.ReplaceAll(s, "'", "''") }

func runWorlds(t *testing.T, worlds map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range worlds {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(script), 0o666))
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, Setup: scriptEnv,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"rc": cmdRC, "repo": cmdRepo, "field": cmdField},
	})
}

// TestStale applies every change and compares the exact text, the action and the exit
// codes.
func TestStale(t *testing.T) {
	t.Parallel()
	worlds := map[string]string{"nothing": world()}
	for n, w := range stale {
		worlds[w.name] = world(n)
	}
	runWorlds(t, worlds)
}
