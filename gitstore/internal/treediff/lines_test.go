package treediff

import (
	"testing"

	"git-checkpoint/gitstore/internal/git"

	"github.com/stretchr/testify/assert"
)

// TestInvalidLineCountsAreErrors checks that invalid counts return an error.
func TestInvalidLineCountsAreErrors(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"1\t2\x00", "1\t2\t\x00", "1\t2\t\x00from\x00", "x\t2\ta\x00"} {
		_, _, err := parseCount(git.Fields([]byte(said)))
		assert.ErrorContains(t, err, "git diff-tree said", "%q", said)
	}
}
