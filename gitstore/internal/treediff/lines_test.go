package treediff

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestInvalidLineCountsAreErrors checks that invalid counts return an error.
func TestInvalidLineCountsAreErrors(t *testing.T) {
	t.Parallel()
	for _, said := range [][]string{{"1\t2"}, {"1\t2\t"}, {"1\t2\t", "from"}, {"x\t2\ta"}} {
		_, err := parseLines(said)
		assert.ErrorContains(t, err, "git diff-tree said", "%q", said)
	}
}
