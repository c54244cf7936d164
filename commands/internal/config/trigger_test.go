package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

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
