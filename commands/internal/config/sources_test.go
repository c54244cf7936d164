package config

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

func entry(key, text string) gitstore.ConfigEntry {
	return gitstore.ConfigEntry{Key: key, Value: text, Scope: "local", Origin: "file:.git/config"}
}

// setting returns the setting with this key from All.
func setting(s *Settings, key string) Setting {
	all := s.All()
	return all[slices.IndexFunc(all, func(v Setting) bool { return v.Key == key })]
}

func TestGitNamesIgnoreCaseAndDashes(t *testing.T) {
	for _, key := range []string{"checkpoint.max-age-days", "checkpoint.maxagedays", "checkpoint.maxAgeDays", "Checkpoint.max-Age-Days"} {
		s, err := Load(Sources{Git: []gitstore.ConfigEntry{entry("core.bare", "x"), entry(key, "9")}})
		require.NoError(t, err, key)
		assert.Equal(t, 9, s.Int("max_age_days"), key)
	}
	for _, key := range []string{"checkpoint.retention.batch-complete", "checkpoint.Retention.batchcomplete", "checkpoint.triggers.batch-start"} {
		_, err := Load(Sources{Git: []gitstore.ConfigEntry{entry(key, "1")}})
		require.NoError(t, err, key)
	}
}

func TestGitErrorsNameTheirOrigin(t *testing.T) {
	tests := []struct {
		name string
		in   gitstore.ConfigEntry
		want string
	}{
		{"unknown", entry("checkpoint.max-age-day", "1"), "config: git config (local) .git/config: checkpoint.max-age-day: unknown setting; did you mean checkpoint.max-age-days?"},
		{"unknown section", entry("checkpoint.x.y", "1"), "config: git config (local) .git/config: checkpoint.x.y: unknown setting"},
		{"no name", entry("checkpoint.", "1"), "config: git config (local) .git/config: checkpoint.: unknown setting"},
		{"value", entry("checkpoint.enabled", "perhaps"), "config: git config (local) .git/config: checkpoint.enabled: want true or false, got perhaps"},
		{"command line", gitstore.ConfigEntry{Key: "checkpoint.push", Value: "now", Scope: "command", Origin: "command line:"}, "config: git config (command): checkpoint.push: want never or auto, got now"},
		{"option", entry("checkpoint.remote", "--upload-pack=x"), "config: git config (local) .git/config: checkpoint.remote: a remote cannot begin with -, got --upload-pack=x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Load(Sources{Git: []gitstore.ConfigEntry{tt.in, entry("checkpoint.redact", "block")}})
			require.EqualError(t, err, tt.want)
			assert.Equal(t, "block", s.String("redact"), "the other settings hold")
		})
	}
}

func TestGitListsOfAScopeReplaceOtherScopes(t *testing.T) {
	global := func(key, text string) gitstore.ConfigEntry {
		return gitstore.ConfigEntry{Key: key, Value: text, Scope: "global", Origin: "file:/home/a/.gitconfig"}
	}
	s, err := Load(Sources{Git: []gitstore.ConfigEntry{
		global("checkpoint.phases", "old"),
		entry("checkpoint.phases", "plan, build"), entry("checkpoint.phases", "test"),
		global("checkpoint.labels-to-phase", "state:doing=build"), global("checkpoint.labels-to-phase", "a=b=test"),
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"plan", "build", "test"}, s.Strings("phases"))
	assert.Equal(t, map[string]string{"state:doing": "build", "a=b": "test"}, s.Map("labels_to_phase"))
	assert.Equal(t, "a=b=test,state:doing=build", setting(s, "labels_to_phase").Value)
}

// Git accepts every documented name, and Load accepts git's listing.
func TestGitAcceptsEveryDocumentedName(t *testing.T) {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "") // restores the variable after the test
			require.NoError(t, os.Unsetenv(name))
		}
	}
	dir := t.TempDir()
	git := gitstore.Git{Dir: dir, Env: []string{"GIT_CONFIG_NOSYSTEM=1", "HOME=" + dir, "XDG_CONFIG_HOME=" + dir}}
	_, err := git.Output(t.Context(), "init", "-q")
	require.NoError(t, err)
	for _, k := range Keys() {
		_, err := git.Output(t.Context(), "config", k.GitName(), k.Default)
		require.NoError(t, err, k.Name)
	}
	require.NoError(t, exec.CommandContext(t.Context(), "sh", "-c", `printf '[checkpoint]\n\tenabled\n' >>"$1"/.git/config`, "sh", dir).Run())
	entries, err := git.Config(t.Context())
	require.NoError(t, err)
	s, err := Load(Sources{Root: dir, Git: entries})
	require.NoError(t, err)
	for i, v := range s.All() {
		assert.Equal(t, Setting{Keys()[i].Name, Keys()[i].Default, "git config (local) .git/config"}, v)
	}
	assert.True(t, s.Bool("enabled"), "a name without a value is true")
}

func TestEnvironmentWarnsAboutUnknownVariables(t *testing.T) {
	s, err := Load(Sources{Environ: []string{
		"HOME=/root", "GIT_CHECKPOINT_MAX_AGE_DAYS=3", "GIT_CHECKPOINT_RETENTION_BATCH_COMPLETE=-1",
		"GIT_CHECKPOINT_PHASES=a,b", "GIT_CHECKPOINT_PUSH=", "GIT_CHECKPOINT_ISSUE=42", "GIT_CHECKPOINT_NOW=x",
		"GIT_CHECKPOINT_SESSION=x", "GIT_CHECKPOINT_SKIP=1",
		"GIT_CHECKPOINT_MAX_AGE_DAY=1", "GIT_CHECKPOINT_=1", "GIT_CHECKPOINT_\x1b=1",
	}})
	require.NoError(t, err)
	assert.Equal(t, 3, s.Int("max_age_days"))
	assert.Equal(t, -1, s.Policy()[checkpoint.BatchComplete].Keep)
	assert.Equal(t, []string{"a", "b"}, s.Strings("phases"))
	assert.True(t, s.IsDefault("push"))
	assert.Equal(t, []string{
		"environment GIT_CHECKPOINT_MAX_AGE_DAY: unknown setting; did you mean GIT_CHECKPOINT_MAX_AGE_DAYS?",
		"environment GIT_CHECKPOINT_: unknown setting",
		`environment "GIT_CHECKPOINT_\x1b": unknown setting`,
	}, s.Warnings())

	_, err = Load(Sources{Environ: []string{"GIT_CHECKPOINT_AUTO_PRUNE=maybe"}})
	require.EqualError(t, err, "config: environment: GIT_CHECKPOINT_AUTO_PRUNE: want true or false, got maybe")
}

func TestLaterSourcesOverrideEarlierSources(t *testing.T) {
	src := Sources{}
	check := func(want, origin string) {
		t.Helper()
		s, err := Load(src)
		require.NoError(t, err)
		assert.Equal(t, Setting{"mirror", want, origin}, setting(s, "mirror"))
	}
	check("off", "default")
	src.Root = worktree(t, ".checkpoint.yaml", "\n\nmirror: crunch\n")
	check("crunch", ".checkpoint.yaml:3")
	src.Git = []gitstore.ConfigEntry{
		{Key: "checkpoint.mirror", Value: "claude", Scope: "global", Origin: "file:/home/a/.gitconfig"},
		entry("checkpoint.mirror", "recovery"),
	}
	check("recovery", "git config (local) .git/config")
	src.Environ = []string{"GIT_CHECKPOINT_MIRROR=pipeline"}
	check("pipeline", "environment GIT_CHECKPOINT_MIRROR")
}

func TestUnknownNamesPanic(t *testing.T) {
	s, err := Load(Sources{})
	require.NoError(t, err)
	assert.Panics(t, func() { s.Bool("enable") })
	assert.Panics(t, func() { s.Int("enabled") })
	assert.Panics(t, func() { s.Origin("enable") })
}

func TestTriggerEnabled(t *testing.T) {
	const local = "git config (local) .git/config"
	tests := []struct {
		name    string
		file    string
		git     string // key set to false
		trigger checkpoint.Trigger
		want    string // reason, or "" if enabled
	}{
		{"default", "", "", checkpoint.BatchComplete, ""},
		{"manual", "", "", checkpoint.Manual, ""},
		{"off by default", "", "", checkpoint.AgentComplete, "trigger agent_complete is off (default)"},
		{"batch_start is off by default", "", "", checkpoint.BatchStart, "trigger batch_start is off (default)"},
		{"unknown", "", "", "task_made_up", ""},
		{"unknown, named like a conflict", "", "checkpoint.triggers.conflict-events", "conflict_x", ""},
		{"without a switch", "", "", checkpoint.TaskUpdate, ""},
		{"switched on", "checkpoint_triggers: {agent_complete: true}", "", checkpoint.AgentComplete, ""},
		{"switched off", "checkpoint_triggers: {interval: false}", "", checkpoint.Interval, "trigger interval is off (.checkpoint.yaml:1)"},
		{"conflict start", "", "checkpoint.triggers.conflict-events", checkpoint.ConflictStart, "trigger conflict_start is off (" + local + ")"},
		{"conflict resolved", "", "checkpoint.triggers.conflict-events", checkpoint.ConflictResolved, "trigger conflict_resolved is off (" + local + ")"},
		{"interrupt off", "", "checkpoint.triggers.user-interrupt", checkpoint.UserInterrupt, "trigger user_interrupt is off (" + local + ")"},
		{"no automatic ones", "", "checkpoint.auto-checkpoint", checkpoint.PhaseTransition, "automatic checkpoints are off (auto_checkpoint, " + local + ")"},
		{"no automatic ones, manual", "", "checkpoint.auto-checkpoint", checkpoint.Manual, ""},
		{"no automatic ones, interrupt", "", "checkpoint.auto-checkpoint", checkpoint.UserInterrupt, ""},
		{"no automatic ones, session end", "auto_checkpoint: false", "", checkpoint.SessionEnd, ""},
		{"disabled", "", "checkpoint.enabled", checkpoint.Manual, "checkpoints are off (enabled, " + local + ")"},
		{"disabled, interrupt", "", "checkpoint.enabled", checkpoint.UserInterrupt, "checkpoints are off (enabled, " + local + ")"},
		{"disabled, unknown", "", "checkpoint.enabled", "task_made_up", "checkpoints are off (enabled, " + local + ")"},
		{"disabled by a file", "enabled: false", "", checkpoint.BatchComplete, "checkpoints are off (enabled, .checkpoint.yaml:1)"},
		{"disabled by a file, manual", "enabled: false", "", checkpoint.Manual, ""},
		{"disabled by a file, interrupt", "enabled: false", "", checkpoint.UserInterrupt, ""},
		{"disabled by both, manual", "enabled: false", "checkpoint.enabled", checkpoint.Manual, "checkpoints are off (enabled, " + local + ")"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := Sources{Root: worktree(t, ".checkpoint.yaml", tt.file)}
			if tt.git != "" {
				src.Git = []gitstore.ConfigEntry{entry(tt.git, "false")}
			}
			s, err := Load(src)
			require.NoError(t, err)
			ok, reason := s.TriggerEnabled(tt.trigger)
			assert.Equal(t, tt.want, reason)
			assert.Equal(t, tt.want == "", ok)
		})
	}
}

func TestPolicyUsesRetentionSettings(t *testing.T) {
	s, err := Load(Sources{
		Root: worktree(t, ".checkpoint.yaml", "retention: {batch_complete: 5}"),
		Git:  []gitstore.ConfigEntry{entry("checkpoint.retention.manual", "2")},
	})
	require.NoError(t, err)
	p := s.Policy()
	assert.Equal(t, "newest 5 per phase", p[checkpoint.BatchComplete].String())
	assert.Equal(t, "newest 2", p[checkpoint.Manual].String())
}
