package repo

import (
	"syscall"
	"testing"

	"git-checkpoint/gitstore/failure"

	"github.com/stretchr/testify/assert"
)

// After the push of a sync, an error has the exit code and the hint of its cause, else the sync as hint.
func TestPushedHasExitOfItsCause(t *testing.T) {
	t.Parallel()
	full := failure.Classify(Pushed("a b", "origin", syscall.ENOSPC))
	assert.Equal(t, failure.Failure, full.Code)
	assert.Equal(t, "git checkpoint sync --issue 'a b'", full.Hint)
	refused := failure.Classify(Pushed("42", "origin", &RefusedError{Reason: "x", Hint: "git x"}))
	assert.Equal(t, failure.Refused, refused.Code)
	assert.Equal(t, "git x", refused.Hint)
}
