package config

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

const (
	switches = "checkpoint_triggers."
	keeps    = "retention."
)

// TriggerEnabled reports whether saves with trigger t are enabled, and otherwise the
// reason. `enabled: false` in a worktree file disables only automatic saves: a clone must
// not disable its user's manual saves.
func (s *Settings) TriggerEnabled(t checkpoint.Trigger) (ok bool, reason string) {
	automatic := t.Automatic()
	if !s.Bool("enabled") && (automatic || s.any("enabled").source != fromFile) {
		return false, "checkpoints are off (enabled, " + s.Origin("enabled") + ")"
	}
	if automatic && !s.Bool("auto_checkpoint") {
		return false, "automatic checkpoints are off (auto_checkpoint, " + s.Origin("auto_checkpoint") + ")"
	}
	if name := switchOf(t); find(name) >= 0 && !s.Bool(name) {
		return false, "trigger " + string(t) + " is off (" + s.Origin(name) + ")"
	}
	return true, ""
}

// switchOf returns the key that enables the trigger. Manual saves have no such key.
func switchOf(t checkpoint.Trigger) string {
	if strings.HasPrefix(string(t), "conflict_") && t.Known() {
		return switches + "conflict_events"
	}
	return switches + string(t)
}
