package install

import (
	"fmt"
	"strings"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/output"
)

// Manual returns text for manual installation: an agent's settings, or git's hooks if a
// is nil.
func Manual(a *hook.Agent, push bool) (string, error) {
	if a == nil {
		return gitManual(push), nil
	}
	text, err := a.Install("", false)
	return fmt.Sprintf("# %s:\n%s", a.File, text), err
}

func gitManual(push bool) string {
	var b strings.Builder
	b.WriteString("# git 2.54 or newer:\n")
	for _, e := range hook.Events() {
		section := "hook." + e.ConfigName()
		fmt.Fprintf(&b, "git config %s.event %s\n", section, e)
		fmt.Fprintf(&b, "git config %s.command %s\n", section, output.Shell(e.ConfigCommand()))
	}
	if push {
		fmt.Fprintf(&b, "# pre-push also pushes checkpoints:\ngit config %s push\n", prePushKey)
	}
	for _, e := range hook.Events() {
		fmt.Fprintf(&b, "\n# %s in .git/hooks or .husky, at its top:\n%s", e, e.Snippet())
	}
	b.WriteString(managersManual)
	return b.String()
}

const managersManual = `
# lefthook.yml or lefthook-local.yml:
pre-push:
  commands:
    git-checkpoint:
      run: command -v git-checkpoint >/dev/null 2>&1 || exit 0; git-checkpoint hook pre-push -- {0}
      use_stdin: true
post-checkout:
  commands:
    git-checkpoint:
      run: command -v git-checkpoint >/dev/null 2>&1 || exit 0; git-checkpoint hook post-checkout -- {0}

# .pre-commit-config.yaml, whose pre-push hooks get the ref in the environment:
repos:
  - repo: local
    hooks:
      - id: git-checkpoint
        name: git-checkpoint
        entry: >-
          sh -c 'command -v git-checkpoint >/dev/null 2>&1 || exit 0;
          echo "$PRE_COMMIT_LOCAL_BRANCH $(git rev-parse "$PRE_COMMIT_LOCAL_BRANCH") $PRE_COMMIT_REMOTE_BRANCH 0000000000000000000000000000000000000000" |
          git-checkpoint hook pre-push -- "$PRE_COMMIT_REMOTE_NAME" "$PRE_COMMIT_REMOTE_URL"'
        language: system
        stages: [pre-push]
        always_run: true
        pass_filenames: false
`
