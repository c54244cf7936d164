package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shortScripts are the scripts that run in short mode: the main path of every command,
// and one script of each family.
const shortScripts = `
adopt-conflict archive-expiry bare-repository bisect blame broken-ref clock compare completion config-errors config-origins
demo diff directory-flag doctor drop-asks drop-without-terminal export export-archive
enable export-commits export-jsonl fetch-push finish git-directory-in-worktree git-processes git-too-old help hook-post-checkout hook-pre-push
hook-prompt hook-session hooks-agent hooks-agent-all hooks-install hostile-record id-forms import import-invalid
issue-command issue-forge issue-from-branch linked-worktree list list-graph list-json list-terminal
manual mirror mistakes not-a-repository object-format-program-missing partial-clone-offline phase phase-fail pin
prune-keep prune-plan push-secret quiet repository-in-worktree restore-changed restore-dry-run restore-paths
resume resume-auto resume-choice resume-files-changed resume-print resume-prompt-golden
resume-stale run save save-as save-json save-phase save-retention save-set-typed
save-state-yaml save-worktree-untracked scan show start status
status-find status-json subdirectory sync sync-plain-push task task-recover undo-drop
stash-apply undo-restore undo-committed redo unborn-branch version-later verify version web-export
`

// skipInShortMode skips a script that is missing in shortScripts.
func skipInShortMode(e *testscript.Env) {
	name := strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")
	if testing.Short() && !strings.Contains(" "+strings.Join(strings.Fields(shortScripts), " ")+" ", " "+name+" ") {
		e.T().Skip("slow: not in short mode")
	}
}

func TestShortScriptsRunEveryCommand(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, name := range strings.Fields(shortScripts) {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "script", name+".txtar"))
		require.NoError(t, err)
		all.Write(data)
	}
	for _, c := range allCommands() {
		assert.Regexp(t, regexp.MustCompile(`(?m)^[^#\n]*\bgit checkpoint `+c.Name+`\b`), all.String())
	}
}
