package workflow_test

import (
	"testing"

	"git-checkpoint/gitstore/layout/internal/workflow"

	"github.com/stretchr/testify/assert"
)

// Status values of all systems.
func TestStatusWords(t *testing.T) {
	for word, want := range map[string]string{
		"complete": workflow.Completed, "DONE": workflow.Completed, "In Progress": workflow.InProgress, "not-started": workflow.Pending, "active": workflow.InProgress,
		"PAUSED": workflow.Halted, "stage_4_done": workflow.Completed, "success": workflow.Completed, "error": workflow.Failed, "cancelled": workflow.Aborted, "idle": workflow.Pending,
		"skip": workflow.Skipped, "purple": "", "": "",
	} {
		assert.Equal(t, want, workflow.StatusOf(word), word)
	}
}
